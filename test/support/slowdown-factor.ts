import { availableParallelism, loadavg } from 'node:os'

const MAX_FACTOR = 10

/**
 * How many times longer than on an idle machine an operation may take now: processes per core, from the load
 * average of the last minute.
 */
export function slowdownFactor(
  load: number = loadavg()[0] ?? 0,
  cores: number = availableParallelism(),
): number {
  return Math.min(Math.max(load / cores, 1), MAX_FACTOR)
}

/** A deadline of an idle machine as whole milliseconds for this one, as timers and processes require them. */
export function scaledMs(ms: number, mostFactor = MAX_FACTOR): number {
  return Math.ceil(ms * Math.min(slowdownFactor(), mostFactor))
}
