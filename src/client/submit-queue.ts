import { PunctualError } from '../core/errors.ts'
import type { Submission } from '../core/wire/protocol.ts'
import type { SubmitOutcome } from '../core/wire/submit-outcome.ts'
import { writeSubmission } from '../core/wire/runs.ts'
import { CallError } from './call-error.ts'

/** One call of `submit`, with its runs already encoded as JSON. */
interface PendingCall {
  readonly runs: readonly string[]
  readonly length: number
  resolve(outcomes: SubmitOutcome[]): void
  reject(error: unknown): void
}

const BATCH_RUNS = 1_000
const BATCH_LENGTH = 8 * 1024 * 1024
const IN_FLIGHT = 4

export type SendBatch = (body: string) => Promise<SubmitOutcome[]>

export interface SubmitQueue {
  submit(submissions: readonly Submission[]): Promise<SubmitOutcome[]>
}

/**
 * Batches calls without a delay: the first call is sent at once, and calls made during a request
 * share the next one.
 */
export function createSubmitQueue(send: SendBatch): SubmitQueue {
  return new BatchingQueue(send)
}

class BatchingQueue implements SubmitQueue {
  readonly #send: SendBatch
  #waiting: PendingCall[] = []
  /** Number of runs in the waiting calls. */
  #runs = 0
  #inFlight = 0
  #isScheduled = false

  constructor(send: SendBatch) {
    this.#send = send
  }

  async submit(submissions: readonly Submission[]): Promise<SubmitOutcome[]> {
    if (submissions.length === 0) return []
    const texts = submissions.map(encode)
    const length = texts.reduce((sum, text) => sum + text.length, 0)
    return new Promise((resolve, reject) => {
      this.#waiting.push({ runs: texts, length, resolve, reject })
      this.#runs += texts.length
      this.#scheduleFlush()
    })
  }

  #scheduleFlush(): void {
    if (this.#isScheduled) return
    this.#isScheduled = true
    queueMicrotask(() => {
      this.#isScheduled = false
      this.#flush()
    })
  }

  #flush(): void {
    while (this.#waiting.length > 0 && this.#maySend()) {
      this.#inFlight += 1
      void this.#deliver(this.#takeBatch()).finally(() => {
        this.#inFlight -= 1
        this.#flush()
      })
    }
  }

  /** A second request is sent at the same time only if it is full. */
  #maySend(): boolean {
    return this.#inFlight === 0 || (this.#runs >= BATCH_RUNS && this.#inFlight < IN_FLIGHT)
  }

  #takeBatch(): PendingCall[] {
    let count = 0
    let batchRuns = 0
    let length = 0
    for (const call of this.#waiting) {
      const isFull =
        batchRuns + call.runs.length > BATCH_RUNS || length + call.length > BATCH_LENGTH
      if (isFull && count > 0) break
      count += 1
      batchRuns += call.runs.length
      length += call.length
    }
    const batch = this.#waiting.slice(0, count)
    this.#waiting = this.#waiting.slice(count)
    this.#runs -= batchRuns
    return batch
  }

  /** Settles every call in the batch; never rejects. */
  async #deliver(calls: readonly PendingCall[]): Promise<void> {
    try {
      const body = `{"runs":[${calls.map((call) => call.runs.join(',')).join(',')}]}`
      const answers = await this.#send(body)
      let from = 0
      for (const call of calls) {
        call.resolve(answers.slice(from, from + call.runs.length))
        from += call.runs.length
      }
    } catch (error) {
      await this.#settleFailed(calls, error)
    }
  }

  /** Unrelated calls share a batch: an error in one must not fail the others. */
  async #settleFailed(calls: readonly PendingCall[], error: unknown): Promise<void> {
    const owner = ownerOfError(calls, error)
    if (owner) {
      owner.call.reject(owner.error)
      const others = calls.filter((call) => call !== owner.call)
      if (others.length > 0) await this.#deliver(others)
    } else {
      for (const call of calls) call.reject(error)
    }
  }
}

function encode(submission: Submission, index: number): string {
  try {
    return JSON.stringify(writeSubmission(submission))
  } catch (error) {
    if (error instanceof PunctualError) throw error
    const field = `runs.${index}.input`
    throw new PunctualError('invalid_field', `${field} cannot be written as JSON`, {
      field,
      cause: error,
    })
  }
}

const RUN_FIELD = /^runs\.(\d+)/
/** Errors that the server detects before anything is stored. */
const FIELD_ERRORS: ReadonlySet<string> = new Set([
  'invalid_field',
  'unknown_field',
  'missing_field',
])

/** The call that caused an error, and the error with that call's own indexes. */
function ownerOfError(calls: readonly PendingCall[], error: unknown) {
  if (!(error instanceof CallError) || !FIELD_ERRORS.has(error.code)) return undefined
  const [named, index] = RUN_FIELD.exec(error.field ?? '') ?? []
  if (error.field === undefined || named === undefined) return undefined
  let from = 0
  for (const call of calls) {
    const own = Number(index) - from
    if (own < call.runs.length) {
      const field = error.field.replace(named, `runs.${own}`)
      const message = error.message.replaceAll(error.field, field)
      return { call, error: new CallError(error.code, message, { outcome: error.outcome, field }) }
    }
    from += call.runs.length
  }
  return undefined
}
