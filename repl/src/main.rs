//! The command `barrow`.

fn main() -> std::process::ExitCode {
    barrow_repl::main()
}
