/** A cron command split into the command to run and its standard input. */
export interface CommandText {
  readonly run: string
  /** Null if the line has no `%`: the command then has no input. */
  readonly stdin: string | null
}

/**
 * The first `%` ends the command. The text after it is the standard input, in which every further `%` is a line
 * break; `\%` is a percent sign. A backslash before any other character is kept.
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

/** Cron adds a final line break if there is none. */
function readInput(text: string): string {
  const lines = text.replaceAll(/\\%|%/g, (mark) => (mark === '%' ? '\n' : '%'))
  return lines === '' || lines.endsWith('\n') ? lines : `${lines}\n`
}
