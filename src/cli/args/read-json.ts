import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'

/** Reads JSON from the command line, where quoting by the shell may have damaged it. */
export function readJson(text: string, what: string, flag: string): unknown {
  try {
    return JSON.parse(text)
  } catch (error) {
    throw new Failure(`${what} is not JSON`, {
      exitCode: EXIT.usage,
      hint: `Quote it for the shell: ${flag} '{"name": "value"}'.`,
      cause: error,
    })
  }
}
