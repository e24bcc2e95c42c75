"""Real daemons under force, and an oracle of what the ranks really did. See chaos.py."""
