#pragma once

namespace funcattn {

/// Makes the signals that end a program (SIGHUP, SIGINT, SIGQUIT, SIGTERM, SIGXCPU) remove its
/// temporary files first; the exit status stays that of the signal. A file that grows beyond the
/// limit (SIGXFSZ) and a closed pipe (SIGPIPE) become errors of the write that met them. Signals
/// that are ignored, as under nohup, stay so.
///
/// For programs only: a library must leave the signals of its host alone.
void handle_signals();

}  // namespace funcattn
