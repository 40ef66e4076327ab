import type { Dispatcher } from 'undici'
import type { Clock, Random } from '../core/clock.ts'
import { PunctualError } from '../core/errors.ts'
import type { SchedulerClient } from '../core/wire/protocol.ts'
import { type BackfillClient, createBackfillClient } from './backfills.ts'
import { createHttpClient } from './http-client.ts'
import { createJobClient, type JobClient } from './jobs.ts'
import { createScheduleClient, type ScheduleClient } from './schedules.ts'
import { createStepClient, type StepClient } from './steps.ts'
import { systemClock, systemRandom } from './system-clock.ts'
import { createTransport } from './transport.ts'

export interface ConnectOptions {
  /** One or several servers: when one is away or stopping, calls move to the next. */
  readonly url: string | readonly string[]
  readonly token: string
  /** Default: `default`. */
  readonly project?: string | undefined
  /** For proxies, client certificates and the like: any undici dispatcher. */
  readonly dispatcher?: Dispatcher | undefined
  /** Replaced in tests. */
  readonly clock?: Pick<Clock, 'sleep'> | undefined
  readonly random?: Random | undefined
}

export interface Client extends SchedulerClient {
  readonly jobs: JobClient
  readonly steps: StepClient
  readonly schedules: ScheduleClient
  readonly backfills: BackfillClient
  /**
   * Waits for calls in flight, then closes the connections. Idle connections do not keep the
   * process alive.
   */
  close(): Promise<void>
}

/** Connects lazily: nothing is sent before the first call. */
export function connect(options: ConnectOptions): Client {
  const { token, project, dispatcher, clock = systemClock, random = systemRandom } = options
  const urls = [options.url].flat().map(parseUrl)
  if (urls.length === 0) throw new PunctualError('config_invalid', 'url names no server')
  if (!/^[\x21-\x7e]+$/.test(token)) {
    throw new PunctualError('config_invalid', 'token is empty or has characters no token has')
  }
  const headers = {
    authorization: `Bearer ${token}`,
    ...(project === undefined ? {} : { 'punctual-project': project }),
  }
  const transport = createTransport({ urls, headers, dispatcher, clock, random })
  return {
    ...createHttpClient(transport),
    jobs: createJobClient(transport),
    steps: createStepClient(transport),
    schedules: createScheduleClient(transport),
    backfills: createBackfillClient(transport),
    close: transport.close,
  }
}

function parseUrl(text: string): URL {
  const url = URL.parse(text)
  if (url?.protocol === 'http:' || url?.protocol === 'https:') return url
  const message = `url must look like http://127.0.0.1:7420, not "${text.slice(0, 80)}"`
  throw new PunctualError('config_invalid', message)
}
