/** A command as cron takes it apart: what is run, and what it reads. */
export interface CommandText {
  readonly run: string
  /** Null if nothing is said: then it reads nothing. */
  readonly stdin: string | null
}

/**
 * The first `%` ends the command, and what follows is its standard input, in which every further one is
 * the end of a line; `\%` is a percent sign. Backslashes before anything else are left alone.
 */
export function readCommand(text: string): CommandText {
  let run = ''
  let isEscaped = false
  for (let index = 0; index < text.length; index++) {
    const character = text[index] as string
    if (isEscaped) {
      run = character === '%' ? `${run.slice(0, -1)}%` : run + character
      isEscaped = false
    } else if (character === '%') {
      return { run: run.trimEnd(), stdin: readInput(text.slice(index + 1)) }
    } else {
      run += character
      isEscaped = character === '\\'
    }
  }
  return { run: run.trimEnd(), stdin: null }
}

/** Cron ends the last line if nobody did. */
function readInput(text: string): string {
  const lines = text.replaceAll(/\\%|%/g, (mark) => (mark === '%' ? '\n' : '%'))
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`
}
