import { closeSync, fdatasyncSync, openSync, rmSync, statfsSync, writeSync } from 'node:fs'
import { cpus, loadavg, release, totalmem, type } from 'node:os'
import { join } from 'node:path'
import { quantile } from './statistics.ts'

export interface Machine {
  readonly system: string
  readonly cpu: string
  readonly cores: number
  readonly memoryGb: number
  readonly load1: number
  readonly disk: FsyncProbe
}

export interface FsyncProbe {
  readonly path: string
  readonly p50Ms: number
  readonly p99Ms: number
  /** A file system in memory makes every durable figure meaningless. */
  readonly inMemory: boolean
}

const TMPFS = 0x01021994
const SYNCS = 200

export function describeMachine(directory: string): Machine {
  const processors = cpus()
  return {
    system: `${type()} ${release()}`,
    cpu: processors[0]?.model.trim() ?? 'unknown',
    cores: processors.length,
    memoryGb: Math.round(totalmem() / 2 ** 30),
    load1: loadavg()[0]!,
    disk: probeFsync(directory),
  }
}

/** Measures the minimum cost of a durable commit: append one page and wait for the disk. */
function probeFsync(directory: string): FsyncProbe {
  const path = join(directory, 'fsync-probe')
  const file = openSync(path, 'w')
  const page = Buffer.alloc(4096, 1)
  const samples: number[] = []
  for (let i = 0; i < SYNCS; i++) {
    const startedAt = performance.now()
    writeSync(file, page)
    fdatasyncSync(file)
    samples.push(performance.now() - startedAt)
  }
  closeSync(file)
  rmSync(path)
  return {
    path: directory,
    p50Ms: quantile(samples, 0.5),
    p99Ms: quantile(samples, 0.99),
    inMemory: statfsSync(directory).type === TMPFS,
  }
}

export function machineLines({ system, cpu, cores, memoryGb, load1, disk }: Machine): string[] {
  const fsync = `fsync p50 ${disk.p50Ms.toFixed(2)} ms, p99 ${disk.p99Ms.toFixed(2)} ms`
  const warning = disk.inMemory ? ' — **in memory: nothing here is durable**' : ''
  return [
    `- Machine: ${cores} × ${cpu}, ${memoryGb} GB, ${system}, load ${load1.toFixed(1)} at the start`,
    `- Disk: ${fsync} (${disk.path})${warning}`,
  ]
}
