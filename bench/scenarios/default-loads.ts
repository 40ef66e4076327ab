/** Every variant gets the same number of runs: this rate times the requested seconds. */
export const RUNS_PER_SECOND = 20_000

/** The load on Punctual in scenarios that measure its maximum rate. */
export const SQLITE_LOAD = { inFlight: 4_096, batch: 256, producers: 16 }
export const POSTGRES_LOAD = { inFlight: 4_096, batch: 256, producers: 16 }

export const CPU_DETAILS = [
  { label: 'client µs/run', measurement: 'clientUs' },
  { label: 'server µs/run', measurement: 'serverUs' },
  { label: 'PostgreSQL µs/run', measurement: 'postgresUs' },
]
