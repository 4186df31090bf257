# Tests of generate, train and evaluate through the built command, one line each.
include(FuncattnCliTest)
set(FUNCATTN_CLI_FIXTURES ${CMAKE_CURRENT_BINARY_DIR}/fixtures)
set(trained "${PROJECT_SOURCE_DIR}/data/sine.safetensors")

# A tiny data set and operator that the others use.
cli_test(generate ARGS generate sine -o samples --train 6 --valid 2 --test 2 --resolutions 1 4 --quiet STDOUT "wrote 12 samples to samples" OUTPUT samples/dataset.json samples/train/0005.vtp samples/test_x4/0001.vtp NO_OUTPUT samples/train/0006.vtp)
cli_test(generate_unknown_task ARGS generate cosine -o samples EXIT 2 STDERR "cosine" NO_OUTPUT samples)
cli_test(generate_nothing ARGS generate sine -o samples --train 0 --valid 0 --test 0 EXIT 2 STDERR "no samples asked for" NO_OUTPUT samples)
cli_test(generate_too_much_context ARGS generate sine -o samples --protocol masked-grid --context 121 EXIT 2 STDERR "the grid has only 120 points" NO_OUTPUT samples)
cli_test(generate_into_used_folder ARGS generate sine -o "${PROJECT_SOURCE_DIR}/cmake" EXIT 1 STDERR "already and not empty")

# train
cli_test(train_without_data ARGS train -o op.safetensors EXIT 2 STDERR "give either --data FOLDER or --task sine" NO_OUTPUT op.safetensors)
cli_test(train_without_out ARGS train --task sine EXIT 2 STDERR "option '--out' is missing")
cli_test(train_unknown_option ARGS train --task sine -o op.safetensors --step 5 EXIT 2 STDERR "did you mean '--steps'" NO_OUTPUT op.safetensors)
cli_test(train_sine ARGS train --task sine -o op.safetensors --steps 20 --threads 1 --quiet STDOUT "wrote op.safetensors: loss" OUTPUT op.safetensors op.last.safetensors op.state.safetensors op.log.jsonl)
cli_test(train_json ARGS train --task sine -o op.safetensors --steps 5 --threads 1 --quiet --json STDOUT "\"ms_per_step\": [0-9.e-]+" OUTPUT op.safetensors)
cli_test(train_contradiction ARGS train --task sine -o op.safetensors --form shared_basis --width 30 --heads 4 EXIT 2 STDERR "width 30 is not divisible by heads 4" NO_OUTPUT op.safetensors)
cli_test(train_steps_and_epochs ARGS train --task sine -o op.safetensors --steps 5 --epochs 5 EXIT 2 STDERR "give one of them" NO_OUTPUT op.safetensors)
cli_test(train_missing_folder ARGS train --task sine -o none/op.safetensors --steps 5 EXIT 1 STDERR "none/op.log.jsonl'?: No such[ \n]+file or directory" NO_OUTPUT none)
cli_test(train_missing_data ARGS train --data none --targets y -o op.safetensors EXIT 1 STDERR "none" NO_OUTPUT op.safetensors)
cli_test(train_onto_folder ARGS train --task sine -o ../train_onto_folder --steps 5 EXIT 1 STDERR "it is a folder; give a file name" NO_OUTPUT ../train_onto_folder.log.jsonl)
cli_test(train_names_keep_their_dots ARGS train --task sine -o lr_0.1 --steps 2 --threads 1 --quiet STDOUT "wrote lr_0.1" OUTPUT lr_0.1 lr_0.1.last.safetensors lr_0.1.state.safetensors lr_0.1.log.jsonl)
cli_test(train_masked_grid ARGS train --task sine --protocol masked-grid --form sum_coefficients --context 4 --functions 8 --epochs 1 --threads 1 --quiet -o op.safetensors OUTPUT op.safetensors)

# evaluate
cli_test(evaluate ARGS evaluate --operator ${trained} --task sine --resample 1 4 --episodes 5 --context 4 10 --ood alpha x --report report --threads 1 --quiet STDOUT "Error by resolution.*resolution drift of sine: .*K = 10.*alpha in .5, 10.*x in .-3, 15" OUTPUT report/report.txt report/report.json report/report.png)
cli_test(evaluate_json ARGS evaluate --operator ${trained} --task sine --resample 1 2 --episodes 3 --context 5 --json --quiet STDOUT "\"drift\": [0-9.]+," STDERR "")
cli_test(evaluate_without_data ARGS evaluate --operator ${trained} EXIT 2 STDERR "give either --data FOLDER or --task sine")
cli_test(evaluate_missing_operator ARGS evaluate --operator none.safetensors --task sine EXIT 1 STDERR "none.safetensors")
cli_test(evaluate_bad_density ARGS evaluate --operator ${trained} --task sine --resample 0 EXIT 2 STDERR "resample")
cli_test(evaluate_missing_data ARGS evaluate --operator ${trained} --data none EXIT 1 STDERR "none")

# From files to an operator and back to files, without a line of task code.
add_test(NAME cli.files_to_operator COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/files_to_operator.sh
  $<TARGET_FILE:funcattn_command> ${CMAKE_CURRENT_BINARY_DIR}/cli/files_to_operator)
set_tests_properties(cli.files_to_operator PROPERTIES LABELS cli
  ENVIRONMENT "${FUNCATTN_TEST_ENVIRONMENT}")

# Options that the chosen source of samples has no use for
cli_test(train_task_with_arrays ARGS train --task sine --inputs y -o op.safetensors EXIT 2 STDERR "has arrays of its own" NO_OUTPUT op.safetensors)
cli_test(evaluate_files_with_resample ARGS evaluate --operator ${trained} --data none --resample 1 2 EXIT 2 STDERR "with --data give one folder")
