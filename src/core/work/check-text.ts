import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'

/** Checks of the texts in work. Each function returns the text, or throws an error with its field. */

export function checkCommandLine(words: readonly string[], field: string): readonly string[] {
  if (words[0] === undefined) throw workFieldError(field, 'is empty: it must name a program')
  checkProgram(words[0], `${field}.0`)
  for (const [index, word] of words.entries()) checkArgument(word, `${field}.${index}`)
  return words
}

export function checkCommand(command: string, field: string): string {
  if (command.trim() !== '') return command
  throw workFieldError(field, 'is empty: there is nothing to run')
}

export function checkProgram(name: string, field: string): string {
  if (name.trim() === '') throw workFieldError(field, 'is empty: it must name a program')
  return checkArgument(name, field)
}

/** Linux rejects a longer argument, but only when the run starts. */
export function checkArgument(word: string, field: string): string {
  const bytes = Buffer.byteLength(checkText(word, field))
  if (bytes <= LIMITS.argumentBytes) return word
  throw workFieldError(
    field,
    `is ${bytes} bytes; an argument has at most ${LIMITS.argumentBytes} (use script)`,
  )
}

export function checkText(value: string, field: string): string {
  if (!value.includes('\0')) return value
  throw workFieldError(field, 'contains NUL, which a process cannot receive')
}

export function checkDirectory(path: string, field: string): string {
  if (path.startsWith('/')) return checkText(path, field)
  throw workFieldError(
    field,
    'must be an absolute path: the current directory of a worker is not defined',
  )
}

export function workFieldError(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}
