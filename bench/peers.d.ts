// The parts of the peers' APIs that the benchmark uses, declared here because `npm run check` must pass
// when the peers are not installed: they are dependencies of the benchmark only.

declare module 'graphile-worker' {
  export class Logger {
    constructor(factory: () => () => void)
    info(message: string): void
  }

  interface Preset {
    worker: {
      connectionString: string
      concurrentJobs?: number
      maxPoolSize?: number
      pollInterval?: number
      localQueue?: { size: number }
      completeJobBatchDelay?: number
      failJobBatchDelay?: number
      logger?: Logger
    }
  }

  export function run(options: {
    preset: Preset
    noHandleSignals: boolean
    taskList: Record<string, (payload: unknown) => unknown>
  }): Promise<{ stop(): Promise<void> }>

  export function makeWorkerUtils(options: { preset: Preset }): Promise<{
    migrate(): Promise<void>
    addJob(identifier: string, payload: object): Promise<unknown>
    addJobs(
      specs: readonly { identifier: string; payload: object; runAt?: Date }[],
    ): Promise<unknown>
    release(): Promise<void>
  }>
}

declare module 'bullmq' {
  interface Connected {
    connection: { host: string; port: number }
  }

  export class Queue {
    constructor(name: string, options: Connected)
    /** Ids of the jobs in these states, from one index to another; -1 means the last. */
    getRanges(states: readonly string[], from: number, to: number): Promise<string[]>
    add(name: string, data: object): Promise<unknown>
    addBulk(
      jobs: readonly {
        name: string
        data: object
        opts: { jobId: string; timestamp: number; delay: number }
      }[],
    ): Promise<unknown>
    upsertJobScheduler(
      id: string,
      rule: { every: number; startDate: number },
      template: { name: string; data: object },
    ): Promise<unknown>
    close(): Promise<void>
  }

  export class Worker {
    constructor(
      name: string,
      handler: (job: { name: string; id?: string }) => Promise<unknown>,
      options: Connected & { concurrency: number },
    )
    waitUntilReady(): Promise<unknown>
    close(): Promise<void>
  }
}

declare module 'pg-boss' {
  export class PgBoss {
    constructor(options: {
      connectionString: string
      max: number
      useListenNotify: boolean
      supervise: boolean
      schedule: boolean
    })
    on(event: 'error', listener: (error: unknown) => void): this
    start(): Promise<unknown>
    stop(options: { graceful: boolean }): Promise<void>
    createQueue(name: string, options: { notify: boolean }): Promise<void>
    send(name: string, data: object): Promise<string | null>
    insert(name: string, jobs: readonly { data: object }[]): Promise<unknown>
    fetch(name: string, options: { batchSize: number }): Promise<{ id: string }[]>
    complete(name: string, ids: readonly string[]): Promise<unknown>
    work(
      name: string,
      options: { batchSize: number; pollingIntervalSeconds: number },
      handler: (jobs: unknown[]) => Promise<unknown>,
    ): Promise<string>
  }
}
