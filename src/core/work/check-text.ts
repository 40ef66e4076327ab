import { PunctualError } from '../errors.ts'
import { LIMITS } from '../limits.ts'

/** Checks of the texts that work is made of. Each gives the text back, or throws what is wrong with it. */

export function commandLine(words: readonly string[], field: string): readonly string[] {
  if (words[0] === undefined) throw wrong(field, 'is empty: it must name a program')
  program(words[0], `${field}.0`)
  for (const [index, word] of words.entries()) argument(word, `${field}.${index}`)
  return words
}

export function something(command: string, field: string): string {
  if (command.trim() !== '') return command
  throw wrong(field, 'is empty: there would be nothing to do')
}

export function program(name: string, field: string): string {
  if (name.trim() === '') throw wrong(field, 'is empty: it must name a program')
  return argument(name, field)
}

/** Linux takes no single argument longer than this, and would say so only when the run starts. */
export function argument(word: string, field: string): string {
  const bytes = Buffer.byteLength(text(word, field))
  if (bytes <= LIMITS.argumentBytes) return word
  throw wrong(
    field,
    `is ${bytes} bytes; an argument has at most ${LIMITS.argumentBytes} (use script)`,
  )
}

export function text(value: string, field: string): string {
  if (!value.includes('\0')) return value
  throw wrong(field, 'contains NUL, which no process can be given')
}

export function directory(path: string, field: string): string {
  if (path.startsWith('/')) return text(path, field)
  throw wrong(field, 'must be an absolute path: a worker has no directory that callers could know')
}

export function wrong(field: string, what: string): PunctualError {
  return new PunctualError('invalid_field', `${field} ${what}`, { field })
}
