//! `docs/commands.md` says what the table of commands says.

mod program;

#[test]
fn the_document_is_made_from_the_table_of_commands() {
    let path = std::path::Path::new(env!("CARGO_MANIFEST_DIR")).join("../docs/commands.md");
    program::compare(&path, &barrow_repl::document());
}
