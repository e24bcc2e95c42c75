"""What the end-to-end tests stand on: sites (a launcher and its nodes), namespaces, leftovers."""
