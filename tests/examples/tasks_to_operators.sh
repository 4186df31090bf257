#!/usr/bin/env bash
# Every generated task through train and evaluate, with nothing said but the folder.
# Usage: tasks_to_operators.sh FUNCATTN FOLDER
set -euo pipefail
funcattn=$1
rm -rf "$2"
mkdir -p "$2"
cd "$2"

fail() { echo "tasks_to_operators: $1" >&2; exit 1; }
small=(--width 8 --heads 2 --basis 4 --blocks 1 --epochs 1 --threads 1 --quiet)

"$funcattn" generate burgers -o burgers --train 4 --valid 2 --test 2 --points 32 --resolutions 1 4 \
  --scattered 50 --quiet
"$funcattn" train --data burgers "${small[@]}" -o burgers.safetensors
if "$funcattn" train --data burgers/train -o part.safetensors 2> messages; then fail "no targets"; fi
tr -s '\n ' ' ' < messages | grep "no target arrays; name what to predict with --targets, or give --data" > /dev/null \
  || fail "the folder above is not named"
"$funcattn" info burgers.safetensors | grep 'weights *array:weight' > /dev/null || fail "weights of dataset.json"
"$funcattn" evaluate --operator burgers.safetensors --data burgers --quiet --threads 1 > table
for set in test test_x4 test_scattered; do
  grep -q " $set " table || fail "$set is not in the table"
done
"$funcattn" run burgers/test_scattered/0000.vtp --operator burgers.safetensors -o predicted.vtp --quiet
[ -s predicted.vtp ] || fail "no output mesh"

"$funcattn" generate darcy -o darcy --train 4 --valid 2 --test 2 --points 60 --resolutions 1 4 \
  --graded-resolutions 1 --domain notch --association cell --quiet
"$funcattn" train --data darcy "${small[@]}" -o darcy.safetensors
"$funcattn" info darcy.safetensors | grep 'weights *measure' > /dev/null || fail "weights of dataset.json"
"$funcattn" info darcy.safetensors | grep 'pressure *cell' > /dev/null || fail "association of dataset.json"
"$funcattn" evaluate --operator darcy.safetensors --data darcy --quiet --threads 1 > table
for set in test test_x4 test_graded; do
  grep -q " $set " table || fail "$set is not in the table"
done

"$funcattn" generate parts -o parts --train 4 --valid 2 --test 2 --points 300 --resolutions 1 4 --quiet
"$funcattn" train --data parts "${small[@]}" -o parts.safetensors
"$funcattn" evaluate --operator parts.safetensors --data parts --quiet --threads 1 > table
grep -q ' accuracy  *median  *worst ' table || fail "no accuracy of classes"
grep -q 'relative L2' table && fail "classes have no relative L2"
"$funcattn" info parts.safetensors | grep 'label .*one of 4 classes (0, 1, 2, 3)' > /dev/null || fail "classes of dataset.json"
grep -q '"accuracy":0.*"validation_accuracy":0' parts.log.jsonl || fail "no accuracy in the log"
"$funcattn" evaluate --operator parts.safetensors --data parts --threads 1 --quiet --fields part_fields \
  --report part_report --json > parts.json
[ -s part_report/report.png ] || fail "no picture of classes"
"$funcattn" run part_fields/parts/test/0000.vtp --operator parts.safetensors --overwrite --probabilities \
  -o parts_again.vtp --error-against label_predicted --threads 1 --quiet > again
grep -q 'label_predicted against label_predicted: accuracy 1$' again || fail "run and evaluate differ: $(cat again)"

# Any label of any mesh, some of them unknown, with a class that no training sample has.
mkdir -p labels
cp -r parts/train labels/train
cp -r parts/test labels/valid
"$funcattn" train --data labels --inputs normal --targets label "${small[@]}" --loss cross_entropy --ignore-class 0 \
  --label-smoothing 0.1 --points 100 --form segmentation --json -o labels.safetensors > labels.json
grep -q '"best_accuracy": 0' labels.json || fail "no accuracy of the best operator: $(cat labels.json)"
"$funcattn" info labels.safetensors | grep 'one of 3 classes (1, 2, 3), 0 ignored' > /dev/null || fail "the ignored class"

if "$funcattn" train --data labels --inputs normal --targets label "${small[@]}" --loss cross_entropy --ignore-class 9 \
  -o absent.safetensors 2>&1 > /dev/null | grep "no point of the training samples has the label that --ignore-class names in 'label'" > /dev/null; then :
else fail "an ignored class that is nowhere"; fi
grep -q '"recall"' parts.json || fail "no figures by class"
grep -A5 '^By class' part_report/report.txt | grep -q '  label  *0  *[0-9]' || fail "no table by class: $(cat part_report/report.txt)"

# Two seeds of one recipe, with fields and pictures where there is no display.
"$funcattn" generate darcy -o flow --train 4 --valid 2 --test 2 --points 60 --resolutions 1 4 --quiet
for seed in 1 2; do
  "$funcattn" train --data flow "${small[@]}" --seed $seed -o flow_$seed.safetensors
done
env -u DISPLAY "$funcattn" evaluate --operator flow_1.safetensors flow_2.safetensors --data flow \
  --quiet --threads 1 --report report --fields fields > table
grep -q 'relative H1' table || fail "no H1 seminorm"
grep -q 'flow_1, flow_2' table || fail "no spread over seeds"
[ -s report/report.png ] || fail "no picture"
[ "$(find fields -name '*.vtu' | wc -l)" = 8 ] || fail "not every sample was written"
"$funcattn" run fields/flow_1/test_x4/0001.vtu --operator flow_1.safetensors --overwrite -o again.vtu \
  --error-against pressure_predicted --json --quiet > again.json
grep -q '"max_error": 0\.0' again.json || grep -qE '"max_error": [0-9.]+e-[0-9]+' again.json ||
  fail "the fields are not what run predicts: $(cat again.json)"

# An operator that predicts the mean over symmetries predicts once as one that was trained without it.
square=(--data flow "${small[@]}" --symmetries square --symmetry-center 0.5 0.5)
"$funcattn" train "${square[@]}" -o drawn.safetensors
"$funcattn" train "${square[@]}" --average-symmetries -o mean.safetensors
errors_of() { "$funcattn" evaluate --data flow --threads 1 --json --quiet --operator "$@" | grep -E '"(label|relative_l2|rmse)"'; }
errors_of drawn.safetensors > drawn.errors
errors_of mean.safetensors > mean.errors
errors_of mean.safetensors --single-prediction > single.errors
cmp drawn.errors single.errors || fail "a single prediction is another"
if cmp -s drawn.errors mean.errors; then fail "the mean is a single prediction"; fi
errors_of drawn.safetensors mean.safetensors --single-prediction > both.errors
[ "$(sort -u both.errors)" = "$(sort -u single.errors)" ] || fail "the two are not alike side by side"
"$funcattn" run flow/test/0000.vtu --operator drawn.safetensors -o drawn.vtu --threads 1 --quiet
"$funcattn" run flow/test/0000.vtu --operator mean.safetensors --single-prediction -o single.vtu --threads 1 --quiet
cmp drawn.vtu single.vtu || fail "a single prediction by run is another"
"$funcattn" inspect mean.safetensors flow/test/0000.vtu --single-prediction -o single.vtu --threads 1 --quiet > table

# Test sets of one name in two folders stay apart.
mkdir -p elsewhere
cp -r flow elsewhere/coarse
"$funcattn" evaluate --operator flow_1.safetensors --data flow elsewhere/coarse --quiet --threads 1 \
  > table
grep -q ' flow/test ' table && grep -q ' coarse/test ' table || fail "sets of one name"
mkdir -p once_more
cp -r flow once_more/coarse
"$funcattn" evaluate --operator flow_1.safetensors --data elsewhere/coarse/test once_more/coarse/test --quiet \
  --threads 1 > table
grep -q ' [^ ]*elsewhere/coarse/test ' table && grep -q ' [^ ]*once_more/coarse/test ' table ||
  fail "sets of one name in folders of one name: $(cat table)"

# A drift is that of one set of problems: other states under the same names are others.
"$funcattn" generate burgers -o louder --train 1 --valid 0 --test 2 --points 128 --initial-amplitude 4 --quiet
"$funcattn" evaluate --operator burgers.safetensors --data burgers/test louder/test --quiet --threads 1 \
  --report unrelated > table
grep -q "^no drift of burgers from set to set: burgers/test and louder/test do not hold the same problems: the\
 [a-z ]* of 'u1' in '0000' is .* in one and .* in the other$" table || fail "no reason: $(cat table)"
grep -q '"drift": null' unrelated/report.json || fail "a drift between problems"
"$funcattn" generate darcy -o others --train 1 --valid 0 --test 4 --points 240 --seed 1 --quiet
"$funcattn" generate darcy -o same --train 1 --valid 0 --test 4 --points 60 --resolutions 1 4 --quiet
"$funcattn" evaluate --operator flow_1.safetensors --data same/test others/test --quiet --threads 1 > table
grep -q "do not hold the same problems: .* of 'pressure' .*in '000" table || fail "problems of one kind: $(cat table)"
"$funcattn" evaluate --operator flow_1.safetensors --data same --quiet --threads 1 > table
grep -q '^resolution drift of flow_1: ' table || fail "no drift of pressures: $(cat table)"
"$funcattn" evaluate --operator burgers.safetensors --data burgers/test burgers/test_x4 --quiet --threads 1 > table
grep -q '^resolution drift of burgers: ' table || fail "no drift: $(cat table)"
