/** Includes versions and builds with names of their own: `rbash`, `bash5`, `bash-static`. */
const SHELL_NAME = /(?:^|\/)(?:sh|ash|dash|r?bash|ksh|mksh|r?zsh)(?:[\d.]+|-static)?$/

/** Whether a program reads its text as a POSIX shell does. */
export function isShell(program: string): boolean {
  return SHELL_NAME.test(program)
}
