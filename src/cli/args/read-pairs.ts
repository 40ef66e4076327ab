import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

/** Reads a repeatable `name=value` flag. */
export function readPair(
  text: string,
  before: Readonly<Record<string, string>> = {},
): Record<string, string> {
  const at = text.indexOf('=')
  if (at <= 0) throw new Failure(`"${text}" is not NAME=VALUE`, { exitCode: EXIT.usage })
  return { ...before, [text.slice(0, at)]: text.slice(at + 1) }
}
