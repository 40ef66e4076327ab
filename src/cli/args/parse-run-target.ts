import { EXIT } from '../errors/exit-codes.ts'
import { Failure } from '../errors/failure.ts'
import { quoteWords } from './quote-words.ts'
import { type RequestOptions, requestOf } from './request-flags.ts'

/**
 * `run nightly` names a job; `run -- sh -c …` is a command, whose first word is not a job;
 * `--image` runs the command in a container, and `--http` sends a request instead of either.
 */
export function parseRunTarget(
  first: string | undefined,
  rest: readonly string[],
  isCommand: boolean,
  options: RequestOptions & {
    readonly image?: string
    readonly task?: string
    /** The words of the command line before these. */
    readonly before?: readonly string[]
  },
): object {
  const { image, task, before = ['run'] } = options
  if (task !== undefined) return handlerToRun(task, { first, rest, isCommand, options })
  const words = first === undefined ? [] : [first, ...rest]
  const request = requestOf(options)
  if (request) {
    if (isCommand || image !== undefined)
      throw wrongUse('--http cannot be combined with a command or an image')
    if (rest.length === 0) return first === undefined ? request : { ...request, job: first }
  } else if (image !== undefined) {
    if (isCommand || first === undefined) return inContainer(image, words)
    throw wrongUse('--image is for a command after --, or for none')
  }
  if (first === undefined) throw wrongUse('name a job, or give a command after --')
  if (isCommand) return { argv: words }
  if (rest.length === 0) return { job: first, unknown_job: 'refuse' }
  throw new Failure(`"${rest[0]}" is one word too many`, {
    exitCode: EXIT.usage,
    hint: 'To run a command, put -- before it.',
    next: `punctual ${quoteWords([...before, '--', ...words])}`,
  })
}

/** `--task send` runs the handler `send`, as a run of the named job or of `send`. */
function handlerToRun(
  task: string,
  given: {
    readonly first: string | undefined
    readonly rest: readonly string[]
    readonly isCommand: boolean
    readonly options: RequestOptions & { readonly image?: string }
  },
): object {
  const { first, rest, isCommand, options } = given
  if (isCommand || options.image !== undefined || requestOf(options)) {
    throw wrongUse('--task names a handler, so no command, image or request goes with it')
  }
  if (rest.length > 0) throw wrongUse(`"${rest[0]}" is one word too many`)
  return { job: first ?? task, task }
}

export function inContainer(image: string, command: readonly string[], workdir?: string): object {
  return {
    container: { image, ...(command.length > 0 && { command }), ...(workdir && { workdir }) },
  }
}

function wrongUse(message: string): Failure {
  return new Failure(message, { exitCode: EXIT.usage })
}
