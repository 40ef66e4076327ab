import {
  EXPECTED_STATUS,
  type HttpWork,
  mayHaveBody,
  readExpected,
} from '../../../core/work/http-work.ts'
import type { Assignment } from '../../../core/wire/protocol.ts'
import { formatSize } from '../../../core/text/size.ts'
import type { Outbound, OutboundAnswer } from '../../../outbound/outbound.ts'
import { OutboundError } from '../../../outbound/outbound-error.ts'
import { maskedResult } from '../../output/masking/masked-result.ts'
import { messageOf, type Settled } from '../../attempts/outcome.ts'
import { traceparent } from '../process/command.ts'
import type { AttemptHooks } from '../../attempts/running-attempt.ts'
import {
  type AttemptResult,
  PrintingAttempt,
  type PrintingDeps,
} from '../../attempts/printing-attempt.ts'

export interface HttpDeps extends PrintingDeps {
  readonly outbound: Outbound
}

/** Client errors that may pass without a change of the request. */
const PASSING = new Set([408, 425, 429])

/** A running HTTP request. */
export class HttpAttempt extends PrintingAttempt {
  readonly #work: HttpWork
  readonly #outbound: Outbound
  readonly #stop = new AbortController()

  constructor(assignment: Assignment, work: HttpWork, hooks: AttemptHooks, deps: HttpDeps) {
    super(assignment, hooks, deps)
    this.#work = work
    this.#outbound = deps.outbound
  }

  protected async work(): Promise<AttemptResult> {
    const { url, method, max_response_bytes: maxResponseBytes, redirects } = this.#work
    const { origin, pathname } = new URL(url)
    // Without the query, which often contains keys.
    this.addWorkerLine(`${method} ${origin}${pathname}`)
    try {
      const answer = await this.#outbound.send({
        ...requestOf(this.assignment, this.#work),
        url,
        method,
        maxResponseBytes,
        maxRedirects: redirects,
        signal: this.#stop.signal,
        // A run with a timeout is bound by that timeout alone.
        timeoutMs: this.assignment.timeoutMs === null ? undefined : Infinity,
      })
      return this.#read(answer)
    } catch (error) {
      return { settled: settledOf(error) }
    }
  }

  protected interrupt(): void {
    this.#stop.abort()
  }

  /** Answers are read up to a limit and then dropped, so there is nothing to throttle. */
  protected throttle(): void {}

  #read(answer: OutboundAnswer): AttemptResult {
    const { status, headers, body, truncated } = answer
    const type = textOf(headers['content-type'])
    const size = `${truncated ? 'more than ' : ''}${formatSize(body.length)}`
    this.addWorkerLine(`answered ${status}, ${size}${type && ` of ${type}`}`)
    if (body.length > 0 && isReadable(type)) this.print(1, body)
    const { expect = EXPECTED_STATUS } = this.#work
    if (!readExpected(expect)(status)) return { settled: unexpected(status, expect) }
    return { settled: { kind: 'exited', code: 0 }, result: this.#resultOf(answer, type) }
  }

  #resultOf({ body, truncated }: OutboundAnswer, type: string): string | undefined {
    if (!isJson(type) || body.length === 0) return undefined
    const text = body.toString('utf8')
    const { problem } = truncated ? { problem: 'is too long' } : maskedResult(text, this.masker)
    if (problem === undefined) return text
    this.addWorkerLine(`the answer cannot be the result: it ${problem}`)
    return undefined
  }
}

function requestOf(assignment: Assignment, work: HttpWork) {
  const { run, fence, attempt, input } = assignment
  const fill = filler(assignment)
  const given = Object.fromEntries(
    Object.entries(work.headers ?? {}).map(([name, value]) => [name.toLowerCase(), fill(value)]),
  )
  const isInput = work.body === undefined && input !== null && mayHaveBody(work.method)
  return {
    body: isInput ? input : work.body && fill(work.body),
    headers: {
      ...(isInput ? { 'content-type': 'application/json' } : {}),
      'idempotency-key': run,
      traceparent: traceparent(run, fence),
      ...given,
      'punctual-run-id': run,
      'punctual-attempt': String(attempt),
      'punctual-fence': String(fence),
    },
  }
}

/**
 * Replaces `${NAME}` by the secret of that name that the run was given; other text stays as it is.
 */
function filler({ secrets = [] }: Assignment): (text: string) => string {
  const values = new Map(secrets.map(({ name, value }) => [name, value]))
  return (text) => text.replace(/\$\{(\w+)\}/g, (same, name: string) => values.get(name) ?? same)
}

function unexpected(status: number, expect: string): Settled {
  return {
    kind: 'failed',
    cause: 'error',
    message: `answered ${status}, expected ${expect}`,
    retriable: status < 400 || status >= 500 || PASSING.has(status),
  }
}

function settledOf(error: unknown): Settled {
  if (!(error instanceof OutboundError)) {
    return { kind: 'failed', cause: 'error', message: messageOf(error) }
  }
  const { code, message, isRefusal } = error
  const cause = code === 'timed_out' ? 'timeout' : 'error'
  return { kind: 'failed', cause, message, retriable: !isRefusal }
}

function textOf(header: string | string[] | undefined): string {
  return (Array.isArray(header) ? header[0] : header) ?? ''
}

function isJson(type: string): boolean {
  return /^application\/(?:[\w.+-]+\+)?json\b/i.test(type)
}

/** Whether a person could read it in a log. Without a content type, the content decides. */
function isReadable(type: string): boolean {
  return type === '' || /^text\/|\b(?:json|xml|javascript|x-www-form-urlencoded|yaml)\b/i.test(type)
}
