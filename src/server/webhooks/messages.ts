import { publicId } from '../../core/ids.ts'
import { lapseSentence } from '../../core/lapses/words.ts'
import {
  BIT_OF_LAPSE,
  EVENT_BIT,
  TEST_EVENT,
  type WebhookEvent,
} from '../../core/webhook/webhook.ts'
import { formatTime, writeRun } from '../../core/wire/runs.ts'
import type { LapseStore, LogStore, OutboxEvent, RunQueries, RunRecord } from '../../store/port.ts'
import type { Catalog } from '../catalog/catalog-cache.ts'
import { createLogReader, type LogReader } from '../logs/log-reader.ts'
import { viewsOf } from '../runs/run-view.ts'

const LOG_LINES = 20
const LINE_LENGTH = 1_000
/** It has ended: what it said last is in its row. */
const NOTHING_SAID = () => null

/** Makes the texts that are sent, once: every try of a delivery sends the same. */
export interface Messages {
  /** What ended, or did not come true, in the words of each event that it is. */
  ofEnd(event: OutboxEvent, run: RunRecord, as: WebhookEvent): Promise<string>
  /** The same for a run that cannot be read: what its event says by itself, and why that is all. */
  ofUnreadable(event: OutboxEvent, as: WebhookEvent, why: string): string
  ofTest(at: number, webhook: string, project: string): string
}

export function createMessages(deps: {
  readonly store: LogStore & Pick<RunQueries, 'attemptsOf'> & Pick<LapseStore, 'lapsesOf'>
  readonly catalog: Catalog
  /** How others reach this server, if it is known. */
  ownUrl(): string | undefined
  onError(error: unknown): void
}): Messages {
  const { catalog, ownUrl } = deps
  const logs = createLogReader(deps.store)

  return {
    async ofEnd(event, record, as) {
      const [view] = await viewsOf([record], catalog, NOTHING_SAID)
      // What it was given, what it gave back and what it executes are for those who may read it here.
      const { input: _, result: __, work: ___, ...run } = writeRun(view!)
      const lapse = (await deps.store.lapsesOf([record.id])).find(
        ({ kind }) => BIT_OF_LAPSE[kind] === EVENT_BIT[as],
      )
      const url = ownUrl()
      return JSON.stringify({
        type: as,
        timestamp: formatTime(event.at, 'timestamp'),
        data: {
          message: lapse ? lapseSentence(run.job, lapse) : sentence(as, run),
          project: run.project,
          job: run.job,
          run,
          ...(as === 'run.recovered' && event.failingSince !== null
            ? { failing_since: formatTime(event.failingSince, 'failing_since') }
            : {}),
          ...(lapse ? { due_at: formatTime(lapse.dueAt, 'due_at') } : {}),
          // A log that cannot be read is no reason to keep quiet.
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

/** For a chat, where nobody reads fields. */
function sentence(as: WebhookEvent, run: { job: string; message: string | null }): string {
  const why = as === 'run.failed' && run.message ? `: ${run.message}` : '.'
  return `${run.job} ${WORDS[as]}${why}`
}

/** The last lines, as they are stored: what the worker masked stays masked. */
async function tailOf(run: RunRecord, logs: LogReader): Promise<string[]> {
  const attempt = await logs.find(run, undefined)
  if (!attempt) return []
  const { lines } = await logs.tail(attempt, LOG_LINES)
  return lines.map(({ text }) =>
    text.length > LINE_LENGTH ? `${text.slice(0, LINE_LENGTH).toWellFormed()}…` : text,
  )
}
