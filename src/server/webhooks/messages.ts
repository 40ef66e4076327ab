import type { Clock } from '../../core/clock.ts'
import { publicId } from '../../core/ids.ts'
import { describeExpectationViolation } from '../../core/expectation/violation.ts'
import {
  VIOLATION_EVENT_BIT,
  EVENT_BIT,
  TEST_EVENT,
  type WebhookEvent,
} from '../../core/webhook/webhook.ts'
import { formatTime, writeRun } from '../../core/wire/runs.ts'
import type {
  ExpectationStore,
  LogStore,
  OutboxEvent,
  RunQueries,
  RunRecord,
} from '../../store/port.ts'
import type { CatalogCache } from '../catalog/catalog-cache.ts'
import { createLogReader, type LogReader } from '../logs/log-reader.ts'
import type { RunCreators } from '../runs/run-creators.ts'
import { viewsOf } from '../runs/run-view.ts'

const LOG_LINES = 20
const LINE_LENGTH = 1_000
/** The run has ended: its last progress is in its row. */
const NO_PROGRESS = () => null

/** Builds the messages, once per delivery: every try sends the same text. */
export interface Messages {
  /** The message for an ended run or a violated expectation, for this kind of event. */
  ofEnd(event: OutboxEvent, run: RunRecord, as: WebhookEvent): Promise<string>
  /**
   * The message for a run that cannot be read: the content of the event, and why there is no more.
   */
  ofUnreadable(event: OutboxEvent, as: WebhookEvent, why: string): string
  ofTest(at: number, webhook: string, project: string): string
}

export function createMessages(deps: {
  readonly clock: Clock
  readonly store: LogStore & Pick<RunQueries, 'attemptsOf'> & Pick<ExpectationStore, 'violationsOf'>
  readonly catalog: CatalogCache
  readonly creators: RunCreators
  /** The public URL of this server, if known. */
  ownUrl(): string | undefined
  onError(error: unknown): void
}): Messages {
  const { catalog, creators, ownUrl } = deps
  const logs = createLogReader(deps.store, deps.clock)

  return {
    async ofEnd(event, record, as) {
      const [view] = await viewsOf([record], catalog, { progressOf: NO_PROGRESS, creators })
      // Its input, result and work are only for users who may read them on the server.
      const { input: _, result: __, work: ___, ...run } = writeRun(view!)
      const violation = (await deps.store.violationsOf([record.id])).find(
        ({ kind }) => VIOLATION_EVENT_BIT[kind] === EVENT_BIT[as],
      )
      const url = ownUrl()
      return JSON.stringify({
        type: as,
        timestamp: formatTime(event.at, 'timestamp'),
        data: {
          message: violation ? describeExpectationViolation(run.job, violation) : sentence(as, run),
          project: run.project,
          job: run.job,
          run,
          ...(as === 'run.recovered' && event.failingSince !== null
            ? { failing_since: formatTime(event.failingSince, 'failing_since') }
            : {}),
          ...(violation ? { due_at: formatTime(violation.dueAt, 'due_at') } : {}),
          // The message is sent even if the log cannot be read.
          log_tail: await tailOf(record, logs).catch((error: unknown) => {
            deps.onError(error)
            return []
          }),
          ...(url === undefined ? {} : { url: `${url}/v1/runs/${run.id}` }),
        },
      })
    },

    ofUnreadable(event, as, why) {
      const job = catalog.jobName(event.jobId)
      const id = publicId('run', event.runId)
      const url = ownUrl()
      return JSON.stringify({
        type: as,
        timestamp: formatTime(event.at, 'timestamp'),
        data: {
          message: `${job}: ${as}, and more cannot be read: ${why}`,
          project: catalog.projectName(event.projectId),
          job,
          run: { id },
          log_tail: [],
          ...(url === undefined ? {} : { url: `${url}/v1/runs/${id}` }),
        },
      })
    },

    ofTest: (at, webhook, project) =>
      JSON.stringify({
        type: TEST_EVENT,
        timestamp: formatTime(at, 'timestamp'),
        data: { message: `This is a test of the webhook ${webhook}.`, project, webhook },
      }),
  }
}

const WORDS: Readonly<Partial<Record<WebhookEvent, string>>> = {
  'run.failed': 'failed',
  'run.recovered': 'recovered',
  'run.succeeded': 'succeeded',
  'run.cancelled': 'was cancelled',
}

/** For chat messages, where fields are not shown. */
function sentence(as: WebhookEvent, run: { job: string; message: string | null }): string {
  const why = as === 'run.failed' && run.message ? `: ${run.message}` : '.'
  return `${run.job} ${WORDS[as]}${why}`
}

/** The last lines as they are stored: values the worker masked stay masked. */
async function tailOf(run: RunRecord, logs: LogReader): Promise<string[]> {
  const attempt = await logs.find(run, undefined)
  if (!attempt) return []
  const { lines } = await logs.tail(attempt, LOG_LINES)
  return lines.map(({ text }) =>
    text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH).toWellFormed()}…` : text,
  )
}
