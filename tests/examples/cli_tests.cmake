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
cli_test(generate_option_of_another_task ARGS generate burgers -o samples --context 5 EXIT 2 STDERR "--context belongs to the task sine" NO_OUTPUT samples)
cli_test(generate_resolution_twice ARGS generate sine -o samples --resolutions 2 2 EXIT 2 STDERR "test_x2 is asked for twice" NO_OUTPUT samples)
cli_test(generate_burgers ARGS generate burgers -o samples --train 2 --valid 1 --test 1 --points 32 --resolutions 1 8 --scattered 50 --quiet STDOUT "wrote 6 samples to samples" OUTPUT samples/dataset.json samples/train/0001.vtp samples/test_x8/0000.vtp samples/test_scattered/0000.vtp)
cli_test(generate_burgers_unresolved ARGS generate burgers -o samples --train 1 --viscosity 0.001 EXIT 1 STDERR "not resolved on 512 points.*solver-points" NO_OUTPUT samples/dataset.json)
cli_test(generate_burgers_odd_grid ARGS generate burgers -o samples --solver-points 513 EXIT 2 STDERR "513 points; give an even number" NO_OUTPUT samples)
cli_test(generate_darcy ARGS generate darcy -o samples --train 1 --valid 1 --test 1 --points 60 --domain notch --permeability two-phase --resolutions 1 4 --graded-resolutions 1 --quiet STDOUT "wrote 5 samples to samples" OUTPUT samples/dataset.json samples/train/0000.vtu samples/test_x4/0000.vtu samples/test_graded/0000.vtu)
cli_test(generate_darcy_few_points ARGS generate darcy -o samples --points 19 EXIT 2 STDERR "at least 20 points" NO_OUTPUT samples)
cli_test(generate_darcy_idle_option ARGS generate darcy -o samples --phases 5 1 EXIT 2 STDERR "--phases has no effect" NO_OUTPUT samples)
cli_test(generate_darcy_notch_range ARGS generate darcy -o samples --domain notch --notch-range 0.6 0.4 EXIT 2 STDERR "two ascending numbers" NO_OUTPUT samples)
cli_test(generate_parts ARGS generate parts -o samples --train 1 --valid 0 --test 1 --points 300 --resolutions 4 --quiet STDOUT "wrote 2 samples to samples" OUTPUT samples/dataset.json samples/train/0000.vtp samples/test_x4/0000.vtp)
cli_test(generate_parts_few_points ARGS generate parts -o samples --points 100 EXIT 2 STDERR "at least 200 points" NO_OUTPUT samples)

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
cli_test(train_warmup ARGS train --data none --targets y --steps 5 --schedule cosine --warmup 5 -o op.safetensors EXIT 2 STDERR "the warm-up takes 5 steps, expected fewer than the 5 of the run" NO_OUTPUT op.safetensors)
cli_test(train_model_before_data ARGS train --data none --targets y --width 30 --heads 4 -o op.safetensors EXIT 2 STDERR "width 30 is not divisible by heads 4" NO_OUTPUT op.safetensors)
cli_test(train_unknown_weights ARGS train --data none --targets y --weights area -o op.safetensors EXIT 2 STDERR "unknown weights 'area'; expected auto, uniform, measure, density or array:NAME" NO_OUTPUT op.safetensors)
cli_test(train_resume_and_overwrite ARGS train --task sine --resume --overwrite -o op.safetensors EXIT 2 STDERR "give one of[ \n]+them" NO_OUTPUT op.safetensors)
cli_test(train_masked_grid ARGS train --task sine --protocol masked-grid --form sum_coefficients --context 4 --functions 8 --epochs 1 --threads 1 --quiet -o op.safetensors OUTPUT op.safetensors)

# evaluate
cli_test(evaluate ARGS evaluate --operator ${trained} --task sine --resample 1 4 --episodes 5 --context 4 10 --ood alpha x --report report --threads 1 --quiet STDOUT "Error by resolution.*resolution drift of sine: .*K = 10.*alpha in .5, 10.*x in .-3, 15" OUTPUT report/report.txt report/report.json report/report.png)
cli_test(evaluate_json ARGS evaluate --operator ${trained} --task sine --resample 1 2 --episodes 3 --context 5 --json --quiet STDOUT "\"drift\": [0-9.]+," STDERR "")
cli_test(evaluate_without_data ARGS evaluate --operator ${trained} EXIT 2 STDERR "give either --data FOLDER or --task sine")
cli_test(evaluate_missing_operator ARGS evaluate --operator none.safetensors --task sine EXIT 1 STDERR "none.safetensors")
cli_test(evaluate_bad_density ARGS evaluate --operator ${trained} --task sine --resample 0 EXIT 2 STDERR "resample")
cli_test(evaluate_missing_data ARGS evaluate --operator ${trained} --data none EXIT 1 STDERR "none")
cli_test(evaluate_fields_of_a_task ARGS evaluate --operator ${trained} --task sine --fields fields EXIT 2 STDERR "--fields writes samples of --data" NO_OUTPUT fields)
cli_test(evaluate_fields_of_two_names ARGS evaluate --operator ${trained} ${trained} --data none --fields fields EXIT 2 STDERR "two operators are named 'sine'" NO_OUTPUT fields)

# inspect
set(plugin_fixtures ${PROJECT_BINARY_DIR}/tests/plugin/fixtures)
set(inspected "${plugin_fixtures}/surrogate.safetensors" "${plugin_fixtures}/grid.vtu")
cli_test(inspect_help ARGS inspect --help STDOUT "usage: funcattn inspect OPERATOR MESH .OPTIONS.")
cli_test(inspect_table ARGS inspect ${inspected} --threads 1 STDOUT "grid.vtu\n +block +head +basis +entropy +effective +least cover +most cover +idle +condition +singular values\n +1 +1 +- +[0-9.]+ +[0-9.]+ of 5 .*\n +2 +2 +-" STDERR "")
cli_test(inspect_files ARGS inspect ${inspected} -o basis.vtu --report report --threads 1 --quiet OUTPUT basis.vtu report/report.txt report/report.json report/transports.png report/spectra.png STDERR "")
cli_test(inspect_per_block ARGS inspect "${plugin_fixtures}/surrogate.safetensors" "${plugin_fixtures}/blocks.vtm" --per-block --report report -o basis.vtm --threads 1 --quiet STDOUT "block 'left'.*block 'right'" OUTPUT basis.vtm report/transports_1.png report/spectra_2.png NO_OUTPUT report/transports.png)
cli_test(inspect_json ARGS inspect ${inspected} --blocks 2 --json --threads 1 --quiet STDOUT "\"block\": 2,.*\"above_threshold\": .*\"transport\": .*\"condition_number\": [0-9.e+]+" STDERR "")
cli_test(inspect_few_shot ARGS inspect "${plugin_fixtures}/regression.safetensors" "${plugin_fixtures}/line.vtp" -o out.vtp --threads 1 --quiet OUTPUT out.vtp)
cli_test(inspect_query ARGS inspect ${inspected} --query "${plugin_fixtures}/query.vtu" --interpolate-inputs -o out.vtu --threads 1 --quiet OUTPUT out.vtu)
cli_test(inspect_empty_mesh ARGS inspect "${plugin_fixtures}/surrogate.safetensors" "${plugin_fixtures}/empty.vtp" --report report --threads 1 STDERR "has no points.*wrote report.txt, report.json to report" OUTPUT report/report.json NO_OUTPUT report/transports.png)
cli_test(inspect_swapped ARGS inspect "${plugin_fixtures}/grid.vtu" "${plugin_fixtures}/surrogate.safetensors" EXIT 2 STDERR "the operator comes first: give '.*surrogate.safetensors' before the mesh")
cli_test(inspect_unknown_parameter ARGS inspect ${inspected} --parameter speed=1 -o out.vtu EXIT 2 STDERR "the operator has no parameter 'speed'" NO_OUTPUT out.vtu)
cli_test(inspect_suffix ARGS inspect ${inspected} --suffix _op -o out.vtu --threads 1 --quiet OUTPUT out.vtu)
cli_test(inspect_without_mesh ARGS inspect "${plugin_fixtures}/surrogate.safetensors" EXIT 2 STDERR "argument MESH is missing")
cli_test(inspect_unknown_block ARGS inspect ${inspected} --blocks 1 3 -o out.vtu EXIT 2 STDERR "there is no block 3 to look into. the operator has 1 to 2" NO_OUTPUT out.vtu)
cli_test(inspect_block_zero ARGS inspect ${inspected} --blocks 0 EXIT 2 STDERR "'--blocks': found '0', expected at least 1")
cli_test(inspect_threshold ARGS inspect ${inspected} --threshold 1.5 EXIT 2 STDERR "'--threshold': found '1.5', expected at most 1")
cli_test(inspect_too_large ARGS inspect ${inspected} --memory-limit 0.00001 -o out.vtu EXIT 1 STDERR "grid.vtu: looking into the operator at 30 points takes about [0-9.]+ MiB, more than the limit of 10.5 KiB. .*--memory-limit" NO_OUTPUT out.vtu)
cli_test(inspect_missing_array ARGS inspect "${plugin_fixtures}/surrogate.safetensors" "${plugin_fixtures}/no_load.vtu" -o out.vtu EXIT 1 STDERR "'load' exists only as a cell array: .*--convert-association" NO_OUTPUT out.vtu)
cli_test(inspect_nan ARGS inspect "${plugin_fixtures}/surrogate.safetensors" "${plugin_fixtures}/nan.vtu" -o out.vtu EXIT 1 STDERR "--nan mask, --nan drop" NO_OUTPUT out.vtu)
cli_test(inspect_nan_masked ARGS inspect "${plugin_fixtures}/surrogate.safetensors" "${plugin_fixtures}/nan.vtu" --nan mask -o out.vtu --threads 1 --quiet STDERR "1 of 30 points hold NaN" OUTPUT out.vtu)
cli_test(inspect_onto_input ARGS inspect ${inspected} -o "${plugin_fixtures}/grid.vtu" EXIT 2 STDERR "would replace the input")
cli_test(inspect_wrong_format ARGS inspect ${inspected} -o out.vti EXIT 2 STDERR "vti" NO_OUTPUT out.vti)
cli_test(inspect_missing_operator ARGS inspect none.safetensors "${plugin_fixtures}/grid.vtu" EXIT 1 STDERR "none.safetensors")

# From files to an operator and back to files, without a line of task code.
add_test(NAME cli.files_to_operator COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/files_to_operator.sh
  $<TARGET_FILE:funcattn_command> ${CMAKE_CURRENT_BINARY_DIR}/cli/files_to_operator)
set_tests_properties(cli.files_to_operator PROPERTIES LABELS cli
  ENVIRONMENT "${FUNCATTN_TEST_ENVIRONMENT}")

# The same for the tasks with equations: what dataset.json says is what the operator is trained with.
add_test(NAME cli.tasks_to_operators COMMAND bash ${CMAKE_CURRENT_SOURCE_DIR}/tasks_to_operators.sh
  $<TARGET_FILE:funcattn_command> ${CMAKE_CURRENT_BINARY_DIR}/cli/tasks_to_operators)
set_tests_properties(cli.tasks_to_operators PROPERTIES LABELS cli
  ENVIRONMENT "${FUNCATTN_TEST_ENVIRONMENT}")

# Options that the chosen source of samples has no use for
cli_test(train_task_with_arrays ARGS train --task sine --inputs y -o op.safetensors EXIT 2 STDERR "has arrays of its own" NO_OUTPUT op.safetensors)
cli_test(train_task_with_points ARGS train --task sine --points 20 -o op.safetensors EXIT 2 STDERR "are for samples of --data" NO_OUTPUT op.safetensors)
cli_test(train_center_without_symmetries ARGS train --data none --targets y --symmetry-center 0 0 -o op.safetensors EXIT 2 STDERR "without --symmetries" NO_OUTPUT op.safetensors)
cli_test(train_center_of_three ARGS train --data none --targets y --symmetries square --symmetry-center -0.5 0 1 -o op.safetensors EXIT 2 STDERR "has 3 numbers, expected 2" NO_OUTPUT op.safetensors)
cli_test(train_rise_without_one_cycle ARGS train --task sine --schedule cosine --rise 0.1 -o op.safetensors EXIT 2 STDERR "--rise is for the schedule one_cycle" NO_OUTPUT op.safetensors)
cli_test(evaluate_files_with_resample ARGS evaluate --operator ${trained} --data none --resample 1 2 EXIT 2 STDERR "with --data give one folder")
