/** Everybody gets the same number of runs: what 20,000 a second would do in the time asked for. */
export const RUNS_PER_SECOND = 20_000

/** How hard Punctual is pushed where the rate is what is measured. */
export const SQLITE_LOAD = { inFlight: 4_096, batch: 256, producers: 16 }
export const POSTGRES_LOAD = { inFlight: 4_096, batch: 256, producers: 16 }

export const CPU_DETAILS = [
  { label: 'client µs/run', measurement: 'clientUs' },
  { label: 'server µs/run', measurement: 'serverUs' },
  { label: 'PostgreSQL µs/run', measurement: 'postgresUs' },
]
