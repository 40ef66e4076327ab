import { execFile, spawn } from 'node:child_process'
import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { freePort } from '../../test/support/free-port.ts'
import { waitFor } from '../../test/support/wait-for.ts'
import { measureAndExit, readVariantSettings } from '../harness/variant-process.ts'
import { installedBytes } from '../load/installed-size.ts'

export interface FootprintSettings {
  readonly directory: string
  readonly seconds: number
}

const ROOT = fileURLToPath(new URL('../../', import.meta.url))
const SETTLE_MS = 3_000
const run = promisify(execFile)
const MB = 2 ** 20
const TICKS_PER_SECOND = 100

/** Measures the resources that an idle `npm start` uses. */
measureAndExit(async () => {
  const { directory, seconds } = readVariantSettings() as FootprintSettings
  const listen = `127.0.0.1:${await freePort()}`
  await run('npm', ['run', '--silent', 'build'], { cwd: ROOT })
  const startedAt = performance.now()
  const child = spawn(
    process.execPath,
    [...startArguments(), '--data', join(directory, 'data'), '--listen', listen],
    { cwd: ROOT, stdio: ['ignore', 'ignore', 'inherit'] },
  )
  try {
    await waitFor(async () => (await fetch(`http://${listen}/readyz`)).ok, { what: 'npm start' })
    const startMs = performance.now() - startedAt
    await pause(SETTLE_MS)
    const before = cpuTicks(child.pid!)
    const samples: number[] = []
    for (let second = 0; second < seconds; second++) {
      await pause(1_000)
      samples.push(residentMb(child.pid!))
    }
    const cpuSeconds = (cpuTicks(child.pid!) - before) / TICKS_PER_SECOND
    return {
      rssMb: Math.max(...samples),
      cpuPercent: (cpuSeconds / seconds) * 100,
      startMs,
      installMb: installedBytes(ROOT) / MB,
    }
  } finally {
    child.kill('SIGKILL')
  }
})

/** The arguments of the `npm start` script, so that it can run without npm. */
function startArguments(): string[] {
  const text = readFileSync(join(ROOT, 'package.json'), 'utf8')
  const { scripts } = JSON.parse(text) as { scripts: { start: string } }
  return scripts.start.split(' ').slice(1)
}

function residentMb(pid: number): number {
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  return Number(/^VmRSS:\s+(\d+) kB/m.exec(status)![1]) / 1024
}

/** User and system time of all threads; the command name in parentheses may contain spaces. */
function cpuTicks(pid: number): number {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  return Number(fields[11]) + Number(fields[12])
}
