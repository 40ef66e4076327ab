const SHELLS = /(?:^|\/)(?:sh|ash|dash|bash|ksh|mksh|zsh)$/

/** Whether a program reads its text as a POSIX shell does. */
export function isShell(program: string): boolean {
  return SHELLS.test(program)
}
