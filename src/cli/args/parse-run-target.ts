import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { type RequestOptions, requestOf } from './request-flags.ts'

/**
 * `run nightly` names a job; `run -- sh -c …` is a command, whose first word is no job; `--image` puts
 * the command into a container, and `--http` is a request instead of either.
 */
export function whatToRun(
  first: string | undefined,
  rest: readonly string[],
  isCommand: boolean,
  options: RequestOptions & { readonly image?: string },
): object {
  const { image } = options
  const words = first === undefined ? [] : [first, ...rest]
  const request = requestOf(options)
  if (request) {
    if (isCommand || image !== undefined) throw wrongUse('--http stands beside no command or image')
    if (rest.length === 0) return first === undefined ? request : { ...request, job: first }
  } else if (image !== undefined) {
    if (isCommand || first === undefined) return inContainer(image, words)
    throw wrongUse('--image is for a command after --, or for none')
  }
  if (first === undefined) throw wrongUse('name a job, or give a command after --')
  if (isCommand) return { argv: words }
  if (rest.length === 0) return { job: first }
  throw new Failure(`"${rest[0]}" is one word too many`, {
    exitCode: EXIT.usage,
    hint: `To run a command, put -- before it: punctual run -- ${words.join(' ')}`,
  })
}

export function inContainer(image: string, command: readonly string[], workdir?: string): object {
  return {
    container: { image, ...(command.length > 0 && { command }), ...(workdir && { workdir }) },
  }
}

function wrongUse(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage })
}
