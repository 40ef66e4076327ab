/** Sampling interval of the event loop, and so the resolution of the figures. */
const PERIOD_MS = 2

export interface LoopDelay {
  /** The longest time for which the loop was blocked. */
  readonly delayMs: number
  /** The most processor time the loop's thread used between two samples; other processes do not add to it. */
  readonly busyMs: number
}

export interface LoopMonitor {
  /** The worst values since the last call. */
  read(): LoopDelay
}

/**
 * Monitors the event loop of this process. `perf_hooks.monitorEventLoopDelay` measures elapsed time only, which
 * on a shared machine includes other processes; this monitor also reads the thread's processor time.
 */
export function watchLoop(): LoopMonitor {
  let delayMs = 0
  let busyMs = 0
  let lastMs = performance.now()
  let lastCpu = cpuMs()
  const sample = () => {
    const nowMs = performance.now()
    const cpu = cpuMs()
    delayMs = Math.max(delayMs, nowMs - lastMs - PERIOD_MS)
    busyMs = Math.max(busyMs, cpu - lastCpu)
    lastMs = nowMs
    lastCpu = cpu
  }
  setInterval(sample, PERIOD_MS).unref()
  return {
    read() {
      sample()
      const worst = { delayMs, busyMs }
      delayMs = 0
      busyMs = 0
      return worst
    },
  }
}

function cpuMs(): number {
  const { user, system } = process.threadCpuUsage()
  return (user + system) / 1000
}
