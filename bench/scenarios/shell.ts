import { fileURLToPath } from 'node:url'
import { runNpm } from '../harness/run-npm.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, BenchScenario, FigureTarget, Variant } from '../harness/scenario.ts'
import type { LauncherLoopSettings } from '../variants/launcher-loop.ts'
import { freshSqlite } from './stores.ts'

const CONCURRENCY = 16
/** More processes than two launchers start on any machine we measured. */
const RUNS_PER_SECOND = 4_000
const HELD_MB = 1_024

const LIMITS = { memoryBytes: 256 * 2 ** 20, pids: 64, cpu: 1 }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const durations = ({ seconds, quick }: BenchOptions) => ({ seconds, warmUpSeconds: quick ? 1 : 3 })

function punctualVariant(name: string, launchers: number, heldMb = 0): Variant {
  return {
    name,
    script: 'shell.ts',
    arrange: async (bench, options) => {
      const { seconds, warmUpSeconds } = durations(options)
      return {
        store: await freshSqlite(bench),
        slots: CONCURRENCY,
        launchers,
        heldMb,
        seconds,
        warmUpSeconds,
        runs: RUNS_PER_SECOND * (seconds + warmUpSeconds),
      }
    },
  }
}

function spawnVariant(
  name: string,
  processes: number,
  { heldMb = 0, readsOutput = true } = {},
): Variant {
  return {
    name,
    script: 'bare-spawn.ts',
    arrange: async (_bench, options) => ({
      processes,
      concurrency: CONCURRENCY,
      heldMb,
      readsOutput,
      ...durations(options),
    }),
  }
}

/** A launcher alone, without a server and without the rest of a worker. */
function launcherVariant(
  name: string,
  settings: Pick<LauncherLoopSettings, 'kind' | 'containment' | 'limits'>,
  heldMb = 0,
): Variant {
  return {
    name,
    script: 'launcher-loop.ts',
    arrange: async (_bench, options) => ({
      ...settings,
      concurrency: CONCURRENCY,
      heldMb,
      ...durations(options),
    }),
  }
}

const forkExecVariant: Variant = {
  name: 'launcher alone: none, but fork and exec in C',
  script: 'fork-exec.ts',
  arrange: async (_bench, options) => ({ concurrency: CONCURRENCY, ...durations(options) }),
}

const NATIVE = 'launcher alone: native'
const NODE = 'launcher alone: Node'

function figure(label: string, variant: string, ...targets: FigureTarget[]): Figure {
  return { label, variant, measurement: 'runsPerSecond', unit: 'runs/s', targets }
}

export const shellScenario: BenchScenario = {
  name: 'shell',
  about:
    '`true` as a run: started by a worker process, its end stored by a server process on SQLite. Compared with ' +
    'Node starting `true` and storing nothing, at the same concurrency.',
  needsPostgres: false,
  needsPeers: false,
  async prepare() {
    await runNpm(ROOT, ['run', '--silent', 'build'])
    return []
  },
  variants: [
    punctualVariant('1 launcher', 1),
    spawnVariant('spawn from 1', 1),
    punctualVariant('2 launchers', 2),
    spawnVariant('spawn from 2', 2),
    punctualVariant('1 launcher, 1 GB held', 1, HELD_MB),
    spawnVariant('spawn from 1, 1 GB held', 1, { heldMb: HELD_MB }),
    spawnVariant('spawn from 1, no output', 1, { readsOutput: false }),
    launcherVariant(NATIVE, { kind: 'native', containment: 'auto' }),
    launcherVariant(NODE, { kind: 'node', containment: 'auto' }),
    forkExecVariant,
    launcherVariant(`${NATIVE}, 1 GB held`, { kind: 'native', containment: 'auto' }, HELD_MB),
    launcherVariant(`${NATIVE}, pidns`, { kind: 'native', containment: 'pidns' }),
    launcherVariant(`${NATIVE}, cgroup`, { kind: 'native', containment: 'cgroup' }),
    launcherVariant(`${NATIVE}, group`, { kind: 'native', containment: 'group' }),
    launcherVariant(`${NATIVE}, limits`, { kind: 'native', containment: 'auto', limits: LIMITS }),
  ],
  figures: [
    figure('Punctual, 1 launcher', '1 launcher', { baselines: ['spawn from 1'], atLeast: 0.8 }),
    figure('Punctual, 2 launchers', '2 launchers', { baselines: ['spawn from 2'], atLeast: 0.8 }),
    figure('Punctual, 1 launcher, the worker holds 1 GB', '1 launcher, 1 GB held', {
      baselines: ['1 launcher'],
      atLeast: 0.9,
    }),
    figure('ceiling: `spawn` from 1 process', 'spawn from 1'),
    figure('ceiling: `spawn` from 2 processes', 'spawn from 2'),
    figure('`spawn` from 1 process that holds 1 GB', 'spawn from 1, 1 GB held'),
    figure('`spawn` from 1 process that discards output', 'spawn from 1, no output'),
    figure(
      'launcher alone: native',
      NATIVE,
      { baselines: [NODE], atLeast: 2 },
      {
        baselines: [forkExecVariant.name],
        atLeast: 0.5,
      },
    ),
    figure('launcher alone: Node', NODE),
    figure('ceiling: fork and exec in C', forkExecVariant.name),
    figure('launcher alone: native, the worker holds 1 GB', `${NATIVE}, 1 GB held`, {
      baselines: [NATIVE],
      atLeast: 0.9,
    }),
    ...['pidns', 'cgroup', 'group'].map((level) =>
      figure(`launcher alone: native, at level ${level}`, `${NATIVE}, ${level}`, {
        baselines: [`${NATIVE}, group`],
      }),
    ),
    figure(
      'launcher alone: native, with limits of memory, processes and cores',
      `${NATIVE}, limits`,
      {
        baselines: [NATIVE],
      },
    ),
  ],
  details: [
    { label: 'launchers and `true` µs/run', measurement: 'startingUs' },
    { label: 'worker µs/run', measurement: 'workerUs' },
    { label: 'server µs/run', measurement: 'serverUs' },
  ],
  notes: [
    `Punctual: \`punctual worker --slots ${CONCURRENCY}\` over loopback HTTP, with more runs waiting than it can handle. Another process counts the ended runs in the database, at the start and at the end of the measurement.`,
    `\`spawn\`: fresh Node processes, ${CONCURRENCY} children at once in total; Node waits for each to exit and reads its two output pipes to the end.`,
    'Launcher alone: one launcher process and a loop that requests `/bin/true` from it, without a server. The native launcher uses the strongest containment available here; the lines by level show what each level costs.',
    '`fork` and `exec` in C: a loop that waits for one process and starts the next, with two pipes each that it does not read.',
    'A process started by Punctual also gets its own session, about twelve environment variables, and a guardian process.',
  ],
}
