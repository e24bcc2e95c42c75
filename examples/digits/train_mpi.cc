// The same training in C++ with Open MPI: a 64 -> 64 (tanh) -> 10 (softmax) network on the digits,
// data-parallel, gradients averaged by one MPI_Allreduce a step.
// Usage: train_mpi DIGITS.CSV [EPOCHS]   (65 numbers a line: 64 pixels 0..16, then the digit)

#include <mpi.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdio>
#include <cstdlib>
#include <fstream>
#include <numeric>
#include <random>
#include <sstream>
#include <string>
#include <vector>

namespace {

constexpr int kPixels = 64, kHidden = 64, kClasses = 10, kTestImages = 360, kBatch = 32;
constexpr int kB1 = kPixels * kHidden, kW2 = kB1 + kHidden, kB2 = kW2 + kHidden * kClasses;
constexpr int kParameters = kB2 + kClasses;
constexpr double kLearningRate = 0.5;

struct Image {
  std::array<double, kPixels> pixels{};
  int digit = 0;
};

std::vector<Image> load(const char* path) {
  std::ifstream file(path);
  std::vector<Image> images;
  for (std::string line; std::getline(file, line);) {
    std::stringstream fields(line);
    Image image;
    std::string field;
    for (double& p : image.pixels) {
      if (!std::getline(fields, field, ',')) break;
      p = std::stod(field) / 16.0;
    }
    if (std::getline(fields, field, ',')) image.digit = static_cast<int>(std::stod(field));
    images.push_back(image);
  }
  return images;
}

struct Activations {
  std::array<double, kHidden> hidden{};
  std::array<double, kClasses> probability{};
};

Activations forward(const std::vector<double>& w, const Image& image) {
  Activations a;
  for (int h = 0; h < kHidden; ++h) {
    double sum = w[kB1 + h];
    for (int p = 0; p < kPixels; ++p) sum += image.pixels[p] * w[p * kHidden + h];
    a.hidden[h] = std::tanh(sum);
  }
  double total = 0;
  for (int c = 0; c < kClasses; ++c) {
    double sum = w[kB2 + c];
    for (int h = 0; h < kHidden; ++h) sum += a.hidden[h] * w[kW2 + h * kClasses + c];
    a.probability[c] = std::exp(sum);
    total += a.probability[c];
  }
  for (double& p : a.probability) p /= total;
  return a;
}

// Adds the gradient of one image's cross-entropy, divided by the batch, to `g`; returns the loss.
double backward(const std::vector<double>& w, const Image& image, std::vector<double>& g) {
  const Activations a = forward(w, image);
  std::array<double, kClasses> delta = a.probability;
  delta[image.digit] -= 1;
  for (int h = 0; h < kHidden; ++h) {
    double back = 0;
    for (int c = 0; c < kClasses; ++c) {
      g[kW2 + h * kClasses + c] += a.hidden[h] * delta[c] / kBatch;
      back += w[kW2 + h * kClasses + c] * delta[c];
    }
    back *= (1 - a.hidden[h] * a.hidden[h]) / kBatch;
    g[kB1 + h] += back;
    for (int p = 0; p < kPixels; ++p) g[p * kHidden + h] += image.pixels[p] * back;
  }
  for (int c = 0; c < kClasses; ++c) g[kB2 + c] += delta[c] / kBatch;
  return -std::log(a.probability[image.digit] + 1e-12);
}

double accuracy(const std::vector<double>& w, const std::vector<Image>& images) {
  int right = 0;
  for (const Image& image : images) {
    const auto p = forward(w, image).probability;
    right += std::max_element(p.begin(), p.end()) - p.begin() == image.digit;
  }
  return static_cast<double>(right) / static_cast<double>(images.size());
}

std::vector<double> initial_parameters() {
  std::mt19937_64 random(1);
  std::normal_distribution<double> normal(0, 1 / std::sqrt(kPixels));
  std::vector<double> w(kParameters, 0.0);
  for (int i = 0; i < kB1; ++i) w[i] = normal(random);
  for (int i = kW2; i < kB2; ++i) w[i] = normal(random);
  return w;
}

void train(std::vector<double>& w, std::vector<Image> mine, int rank, int size, int epochs) {
  std::mt19937_64 random(1000 + rank);
  std::vector<double> gradient(kParameters);
  for (int epoch = 1; epoch <= epochs; ++epoch) {
    std::shuffle(mine.begin(), mine.end(), random);
    double loss = 0;
    for (std::size_t start = 0; start + kBatch <= mine.size(); start += kBatch) {
      std::fill(gradient.begin(), gradient.end(), 0.0);
      loss = 0;
      for (int i = 0; i < kBatch; ++i) loss += backward(w, mine[start + i], gradient) / kBatch;
      MPI_Allreduce(MPI_IN_PLACE, gradient.data(), kParameters, MPI_DOUBLE, MPI_SUM,
                    MPI_COMM_WORLD);
      for (int i = 0; i < kParameters; ++i) w[i] -= kLearningRate * gradient[i] / size;
    }
    if (rank == 0 && epoch % 5 == 0) std::printf("epoch %3d  loss %.4f\n", epoch, loss);
  }
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  int rank = 0, size = 0, name_length = 0;
  char name[MPI_MAX_PROCESSOR_NAME];
  MPI_Comm_rank(MPI_COMM_WORLD, &rank);
  MPI_Comm_size(MPI_COMM_WORLD, &size);
  MPI_Get_processor_name(name, &name_length);
  if (argc < 2) {
    std::fprintf(stderr, "usage: train_mpi DIGITS.CSV [EPOCHS]\n");
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::vector<Image> images = load(argv[1]);
  if (images.size() <= kTestImages) {
    std::fprintf(stderr, "%s: %zu images; scikit-learn's digits.csv has 1797\n", argv[1],
                 images.size());
    MPI_Abort(MPI_COMM_WORLD, 2);
  }
  std::mt19937_64 shuffle(7);
  std::shuffle(images.begin(), images.end(), shuffle);
  const std::vector<Image> test(images.end() - kTestImages, images.end());
  images.resize(images.size() - kTestImages);
  std::vector<Image> mine;
  const std::size_t share = images.size() / size;
  for (std::size_t i = rank; mine.size() < share; i += size) mine.push_back(images[i]);
  std::printf("rank %d of %d on %s: %zu images\n", rank, size, name, mine.size());

  std::vector<double> w = initial_parameters();
  train(w, mine, rank, size, argc > 2 ? std::atoi(argv[2]) : 10);
  if (rank == 0) std::printf("accuracy %.4f\n", accuracy(w, test));
  MPI_Finalize();
  return 0;
}
