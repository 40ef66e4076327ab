import { isShell } from './shell-names.ts'

/** How an interpreter takes its program on the command line. */
interface Syntax {
  /** The option that precedes the program; with `=`, the program is part of the same word. */
  readonly program: RegExp
  /** Options whose argument is a separate word. */
  readonly takesArgument: RegExp
  /** Options after which all arguments belong to the named file or module. */
  readonly ends?: RegExp
  /** Options after other arguments are still read as options. */
  readonly permutes?: boolean
}

const SHELL: Syntax = {
  program: /^-[A-Za-z]*c[A-Za-z]*$/,
  takesArgument: /^(?:[-+][A-Za-z]*[oO]|--(?:rcfile|init-file))$/,
}

const SYNTAXES: readonly (readonly [name: RegExp, syntax: Syntax])[] = [
  [
    /^(?:python[\d.]*|pypy\d?)$/,
    { program: /^-[A-Za-z]*c$/, takesArgument: /^-[WX]$/, ends: /^-m$/ },
  ],
  [
    /^(?:node|nodejs|bun)$/,
    {
      program: /^(?:-[ep]|-pe|--(?:eval|print)(?:=.*)?)$/s,
      takesArgument: /^(?:-[rC]|--(?:require|import|loader|conditions))$/,
    },
  ],
  [/^deno$/, { program: /^eval$/, takesArgument: /^$/ }],
  [/^perl$/, { program: /^-[A-Za-z\d]*[eE]$/, takesArgument: /^-[IMm]$/ }],
  [/^(?:ruby|irb)$/, { program: /^-[A-Za-z]*e$/, takesArgument: /^-[IrCE]$/ }],
  [
    /^php$/,
    { program: /^(?:-[rBRE]|--(?:run|process-\w+))$/, takesArgument: /^-[cdz]$/, ends: /^-f$/ },
  ],
  [
    /^(?:psql|mysql|mariadb)$/,
    {
      program: /^(?:-[A-Za-z]*[ce]|--(?:command|execute)(?:=.*)?)$/s,
      takesArgument: /^-[hpPUudfvD]$/,
      permutes: true,
    },
  ],
]

const OTHER: Syntax = {
  program: /^(?:-[A-Za-z]*[ce]|-[rE]|-Command|--(?:eval|command|execute|print)(?:=.*)?)$/s,
  takesArgument: /^$/,
}

function syntaxOf(interpreter: string): Syntax {
  if (isShell(interpreter)) return SHELL
  const name = interpreter.slice(interpreter.lastIndexOf('/') + 1)
  return SYNTAXES.find(([names]) => names.test(name))?.[1] ?? OTHER
}

/**
 * The index of the argument that is the interpreter's program, or -1. The first argument that is not an option ends
 * the options: arguments after a file name belong to the program in that file.
 */
export function programArgument(interpreter: string, rest: readonly string[]): number {
  const { program, takesArgument, ends, permutes = false } = syntaxOf(interpreter)
  let isNext = false
  for (let at = 0; at < rest.length; at += 1) {
    const word = rest[at] as string
    const isOption = /^[-+]./.test(word)
    if (isNext && !(isShell(interpreter) && isOption)) return at
    if (!isNext && program.test(word)) {
      if (word.includes('=')) return at
      isNext = true
    } else if (takesArgument.test(word)) at += 1
    else if (!isOption && !permutes) return -1
    else if (word === '--' || ends?.test(word)) return -1
  }
  return -1
}
