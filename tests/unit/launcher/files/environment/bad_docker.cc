#include "tests/unit/launcher/files/environment/bad_environments.h"

namespace lockstep::spec {

namespace {

constexpr ErrorCode kNotYet = ErrorCode::unsupported;
constexpr ErrorCode kNotFound = ErrorCode::not_found;
const std::string kForm = "[HOST[:PORT]/]NAME[:TAG][@sha256:…]";
const std::string kImage = "environment: {image: debian}\n";

}  // namespace

std::vector<BadEnvironment> bad_docker_jobs() {
  return {
      // ---- image
      {"image_empty", "environment: {image: ''}\n",
       "job.yml:2:22: 'environment.image' is empty; leave it out"},
      {"image_list", "environment: {image: [a]}\n",
       "job.yml:2:22: 'environment.image' must be a string, not a list"},
      {"image_upper", "environment:\n  image: Team/Train:1\n",
       "job.yml:3:10: environment.image: 'Team/Train:1' has upper-case letters, which an image's "
       "name cannot have; write team/train"},
      {"image_blank", "environment:\n  image: debian 12\n",
       "job.yml:3:10: environment.image: 'debian 12' contains a blank or a control character; an "
       "image's name is " +
           kForm},
      {"image_dash", "environment:\n  image: --privileged\n",
       "job.yml:3:10: environment.image: '--privileged' begins with '-' like an option; write "
       "options of the container engine in resources.docker_args"},
      {"image_https", "environment:\n  image: https://r.io/x\n",
       "job.yml:3:10: environment.image: 'https://r.io/x' is an address; write the name alone: "
       "r.io/x"},
      {"image_docker", "environment:\n  image: docker://debian\n",
       "job.yml:3:10: environment.image: 'docker://debian' is an address; write the name alone: "
       "debian"},
      {"image_digest", "environment:\n  image: debian@sha256:12\n",
       "job.yml:3:10: environment.image: 'debian@sha256:12' has the digest 'sha256:12', which must "
       "be sha256: and 64 hexadecimal digits (0-9, a-f)"},
      {"image_of_a_file",
       "environment: file:e/env.yml\n",
       "e/env.yml:2:8: image: 'A' has upper-case letters, which an image's name cannot have; write "
       "a",
       ErrorCode::invalid_argument,
       {{"e/env.yml", "name: x\nimage: A\n"}}},
      {"image_of_set",
       "",
       "--set environment.image=a:: environment.image: 'a:' has the tag '', which must be 1 to 128 "
       "letters, digits, '_', '.' or '-', and not begin with '.' or '-'",
       ErrorCode::invalid_argument,
       {},
       {"environment.image=a:"}},
      // ---- what cannot stand beside it
      {"image_and_build", "environment:\n  image: debian\n  build: {path: .}\n",
       "job.yml:4:3: 'environment.build' and 'environment.image' cannot be combined: leave one out "
       "(to build on an image, name it after FROM in the Dockerfile)"},
      {"image_and_interpreter", "environment:\n  interpreter: python3\n  image: debian\n",
       "job.yml:3:3: 'environment.interpreter' names a Python of the nodes, but "
       "'environment.image' has its own: leave one out"},
      {"build_and_interpreter", "environment:\n  build: {path: .}\n  interpreter: python3\n",
       "job.yml:4:3: 'environment.interpreter' names a Python of the nodes, but "
       "'environment.build' has its own: leave one out"},
      {"image_and_requirements", "environment:\n  image: debian\n  requirements: [six]\n",
       "job.yml:4:3: 'environment.requirements' cannot be combined with 'environment.image'; to "
       "install packages on an image, use 'environment.conda_file', with pip's among its "
       "dependencies: - pip: [-r requirements.txt]"},
      {"image_and_python", "environment:\n  image: debian\n  python: python3\n",
       "job.yml:4:3: 'environment.python' works only with 'environment.requirements'; in a "
       "container, Python comes from the image or from the dependencies of "
       "'environment.conda_file': python=3.11"},
      {"image_and_a_missing_conda_file", "environment:\n  image: debian\n  conda_file: c.yml\n",
       "job.yml:4:15: 'environment.conda_file': there is no c.yml; write the name of a conda file, "
       "relative to this file, or a mapping of channels and dependencies",
       kNotFound},
      {"image_and_a_bad_conda_file",
       "environment:\n  image: debian\n  conda_file: {dependencies: ['numpy=>1']}\n",
       "job.yml:4:31: 'numpy=>1': '=>' is not an operator; write >="},
      {"image_and_windows", "environment:\n  image: debian\n  os_type: windows\n",
       "job.yml:4:12: 'environment.os_type': 'windows' is not supported; it must be linux",
       kNotYet},
      {"image_and_inference_config",
       "environment:\n  image: debian\n  inference_config: {port: 80}\n",
       "job.yml:4:3: 'environment.inference_config' is not supported yet; leave it out: it is for "
       "Azure's online endpoints; a server runs as a job's `command`",
       kNotYet},
      {"beside_the_environment", "image: debian\n",
       "job.yml:2:1: unknown key 'image'; did you mean 'environment.image'?"},
      {"build_beside_the_environment", "build: {path: .}\n",
       "job.yml:2:1: unknown key 'build'; did you mean 'environment.build'?"},
      // ---- build
      {"build_text", "environment: {build: .}\n",
       "job.yml:2:22: 'environment.build' must be a mapping, not a value; write {path: FOLDER}"},
      {"build_without_path", "environment: {build: {dockerfile_path: D}}\n",
       "job.yml:2:22: 'environment.build' needs a 'path', the folder that the image is built from, "
       "such as ."},
      {"build_key", "environment: {build: {pth: .}}\n",
       "job.yml:2:23: unknown key 'environment.build.pth'; did you mean 'environment.build.path'?"},
      {"build_far_key", "environment: {build: {target: x}}\n",
       "job.yml:2:23: unknown key 'environment.build.target'; the known keys are 'path' and "
       "'dockerfile_path'"},
      {"build_context", "environment: {build: {context: .}}\n",
       "job.yml:2:23: 'environment.build.context' is the digest of a folder that the launcher has "
       "stored; name the folder itself: {path: FOLDER}",
       ErrorCode::unsupported},
      {"build_empty_path", "environment: {build: {path: ''}}\n",
       "job.yml:2:29: 'environment.build.path' is empty; name a folder, such as ."},
      {"build_list", "environment: {build: {path: [a]}}\n",
       "job.yml:2:29: 'environment.build.path' must be a string, not a list"},
      {"build_of_an_address", "environment: {build: {path: 'https://h/x.git#main'}}\n",
       "job.yml:2:29: 'environment.build.path': 'https://h/x.git#main' is remote, which is not "
       "supported; download the folder and give its local path",
       kNotYet},
      {"build_of_git", "environment: {build: {path: 'git@h:x'}}\n",
       "job.yml:2:29: 'environment.build.path': 'git@h:x' is remote, which is not supported; "
       "download the folder and give its local path",
       kNotYet},
      {"dockerfile_empty", "environment: {build: {path: ., dockerfile_path: ''}}\n",
       "job.yml:2:49: 'environment.build.dockerfile_path' is empty; leave it out to use "
       "Dockerfile"},
      {"dockerfile_outside", "environment: {build: {path: ., dockerfile_path: ../D}}\n",
       "job.yml:2:49: environment.build.dockerfile_path: '../D' leads out of the folder that is "
       "built; put the file into that folder"},
      {"dockerfile_absolute", "environment: {build: {path: ., dockerfile_path: /D}}\n",
       "job.yml:2:49: environment.build.dockerfile_path: '/D' is absolute; write a path relative "
       "to the folder that is built"},
      // ---- resources
      {"shm_size", kImage + "resources: {shm_size: lots}\n",
       "job.yml:3:23: 'resources.shm_size': 'lots' is not a size; write 512m or 2g"},
      {"shm_size_small", kImage + "resources: {shm_size: 2}\n",
       "job.yml:3:23: resources.shm_size: is 2 B; must be at least 64.0 KiB"},
      {"shm_size_list", kImage + "resources: {shm_size: [2g]}\n",
       "job.yml:3:23: 'resources.shm_size' must be a number, not a list"},
      {"docker_args_quote", kImage + "resources:\n  docker_args: -e 'A=b\n",
       "job.yml:4:16: resources.docker_args: the quote ' at character 4 is not closed"},
      {"docker_args_mapping", kImage + "resources: {docker_args: {a: b}}\n",
       "job.yml:3:26: 'resources.docker_args' must be a string or a list of words, not a mapping; "
       "write, for example, '--ulimit memlock=-1'"},
      {"docker_args_of_lists", kImage + "resources: {docker_args: [[--init]]}\n",
       "job.yml:3:27: 'resources.docker_args' must be a list of words; this item is a list"},
      {"docker_args_blank", kImage + "resources: {docker_args: [--ulimit nofile=1]}\n",
       "job.yml:3:26: resources.docker_args: '--ulimit nofile' holds a blank; write one word in "
       "each item of the list"},
      {"docker_args_of_ours", kImage + "resources:\n  docker_args: --gpus all\n",
       "job.yml:4:16: resources.docker_args: a job cannot set '--gpus': write "
       "lockstep.resources.gpus instead"},
      {"docker_args_unknown", kImage + "resources:\n  docker_args: --shmsize 2g\n",
       "job.yml:4:16: resources.docker_args: unknown option '--shmsize'; did you mean "
       "'--shm-size'?"},
      {"docker_args_of_set",
       kImage,
       "--set resources.docker_args=--rm: resources.docker_args: a job cannot set '--rm': Lockstep "
       "names and removes containers itself; leave the option out",
       ErrorCode::invalid_argument,
       {},
       {"resources.docker_args=--rm"}},
  };
}

std::vector<BadEnvironment> bad_docker_files() {
  return {
      {"image", "name: x\nimage: A\n",
       "env.yml:2:8: image: 'A' has upper-case letters, which an image's name cannot have; write "
       "a"},
      {"image_and_build", "image: a\nbuild: {path: .}\n",
       "env.yml:2:1: 'build' and 'image' cannot be combined: leave one out (to build on an image, "
       "name it after FROM in the Dockerfile)"},
      {"dockerfile", "build:\n  path: .\n  dockerfile_path: ../D\n",
       "env.yml:3:20: build.dockerfile_path: '../D' leads out of the folder that is built; put the "
       "file into that folder"},
      {"properties", "image: a\nproperties: {a: b}\n",
       "env.yml:2:1: 'properties' is not supported yet; leave it out, or write `tags`", kNotYet},
      {"conda_itself", "image: a\ndependencies: [python]\n",
       "env.yml:1:1: 'image' is a key of an environment file, but this is a conda file; in an "
       "environment file, put channels and dependencies under 'conda_file'"},
  };
}

}  // namespace lockstep::spec
