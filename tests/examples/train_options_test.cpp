#include "examples/train/train_options.h"

#include <gtest/gtest.h>

#include "core/error.h"

namespace funcattn {
namespace {

TEST(Recipe, TakesWhatIsGivenAndKeepsTheRest) {
  ModelOptions model;
  model.form = "paper";
  model.width = 48;
  model.ridge_scale = "relative";
  OptimisationOptions optimisation;
  optimisation.steps = 7;
  optimisation.learning_rate = 0.5;
  optimisation.loss = "mse";
  optimisation.average = 0.99;
  optimisation.rise = 0.1;
  const Recipe recipe = general_recipe().with(model, optimisation);
  EXPECT_EQ(recipe.model.form, Form::paper);
  EXPECT_EQ(recipe.model.width, 48);
  EXPECT_TRUE(recipe.model.relative_ridge);
  EXPECT_EQ(recipe.model.basis, general_recipe().model.basis);
  EXPECT_EQ(recipe.steps, 7);
  EXPECT_EQ(recipe.epochs, 0) << "steps replace the recipe's epochs";
  EXPECT_EQ(recipe.schedule.peak, 0.5);
  EXPECT_EQ(recipe.loss, Loss::mse);
  EXPECT_EQ(recipe.average, 0.99);
  EXPECT_EQ(recipe.schedule.rise_fraction, 0.1);
  EXPECT_EQ(recipe.batch, general_recipe().batch);
}

TEST(Recipe, ABlendIsLearnedOrANumber) {
  ModelOptions model;
  model.blend = "0.25";
  model.sinusoids = 4;
  model.learn_frequencies = true;
  EXPECT_EQ(general_recipe().with(model, {}).model.blend, 0.25);
  EXPECT_TRUE(general_recipe().with(model, {}).model.learned_frequencies);
  model.blend = "learned";
  EXPECT_FALSE(general_recipe().with(model, {}).model.blend);
  model.blend = "half";
  try {
    general_recipe().with(model, {});
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--blend is 'half'; give 'learned', or a number above 0 and at most 1");
  }
}

TEST(Recipe, RefusesARiseThatTheScheduleDoesNotHave) {
  OptimisationOptions optimisation;
  optimisation.schedule = "cosine";
  optimisation.rise = 0.1;
  try {
    general_recipe().with({}, optimisation);
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(),
                 "--rise is for the schedule one_cycle, but the schedule is cosine; give --warmup, "
                 "or --schedule one_cycle");
  }
}

TEST(Recipe, RefusesStepsAndEpochsTogether) {
  OptimisationOptions optimisation;
  optimisation.steps = 7;
  optimisation.epochs = 2;
  try {
    general_recipe().with({}, optimisation);
    FAIL() << "nothing was thrown";
  } catch (const UsageError& error) {
    EXPECT_STREQ(error.what(), "--steps and --epochs are both given; give one of them");
  }
}

}  // namespace
}  // namespace funcattn
