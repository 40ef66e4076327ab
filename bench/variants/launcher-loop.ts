import { setTimeout as pause } from 'node:timers/promises'
import { type LauncherOptions, startLauncher } from '../../src/worker/launcher/launcher.ts'
import { openLifelineFile } from '../../src/worker/launcher/lifeline.ts'
import type { Limits } from '../../src/worker/launcher/messages.ts'
import { childrenCpuMs, ownCpuMs } from '../harness/process-cpu.ts'
import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'

export interface LauncherLoopSettings extends Pick<LauncherOptions, 'kind' | 'containment'> {
  readonly concurrency: number
  readonly limits?: Limits
  /** Memory that this process holds during the measurement. */
  readonly heldMb: number
  readonly warmUpSeconds: number
  readonly seconds: number
}

const MB = 2 ** 20
const HOUR_NS = 3_600_000_000_000n

/** Measures one launcher without the rest of a worker: it starts `true` repeatedly, `concurrency` at once. */
measureAndExit(async () => {
  const settings = readVariantSettings() as LauncherLoopSettings
  const { concurrency, limits, heldMb, warmUpSeconds, seconds, ...options } = settings
  const held = Array.from({ length: heldMb }, () => Buffer.alloc(MB, 1))
  const lifeline = openLifelineFile()
  lifeline.renew(process.hrtime.bigint() + HOUR_NS)
  const launcher = await startLauncher(lifeline.fd, options)
  let started = 0
  let ended = 0
  let isStopped = false

  const runOnce = () =>
    new Promise<void>((resolve, reject) => {
      started += 1
      const env = {
        PATH: '/bin',
        PUNCTUAL_RUN_ID: `bench_${process.pid}`,
        PUNCTUAL_FENCE: `${started}`,
      }
      const input = {
        file: '/bin/true',
        args: [],
        env,
        cwd: '/',
        stdin: undefined,
        umask: undefined,
      }
      launcher.start(limits ? { ...input, limits } : input, {
        onOutput() {},
        onUnstartable: (message) => reject(new Error(message)),
        onEnd: (code) => (code === 0 ? resolve() : reject(new Error(`it ended with ${code}`))),
        onAbandoned: () => reject(new Error('the launcher has exited')),
      })
    })
  const loop = async () => {
    for (; !isStopped; ended += 1) await runOnce()
  }
  const sample = () => ({
    ended,
    at: performance.now(),
    startingMs: childrenCpuMs(process.pid) ?? NaN,
    workerMs: ownCpuMs(process.pid) ?? NaN,
  })
  const loops = Promise.all(Array.from({ length: concurrency }, loop))
  await pause(warmUpSeconds * 1000)
  const first = sample()
  await pause(seconds * 1000)
  const last = sample()
  isStopped = true
  await loops
  launcher.close()
  await launcher.ended
  lifeline.close()
  if (held.length !== heldMb) throw new Error('the held memory was freed')
  const runs = last.ended - first.ended
  const perRunUs = (from: number, to: number) => ((to - from) * 1000) / runs
  return {
    runsPerSecond: runs / ((last.at - first.at) / 1000),
    startingUs: perRunUs(first.startingMs, last.startingMs),
    workerUs: perRunUs(first.workerMs, last.workerMs),
  }
})
