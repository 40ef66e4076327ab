import { fileURLToPath } from 'node:url'
import { npm } from '../harness/run-npm.ts'
import type { BenchOptions } from '../harness/options.ts'
import type { Figure, Scenario, Target, Variant } from '../harness/scenario.ts'
import type { LauncherLoopSettings } from '../variants/launcher-loop.ts'
import { freshSqlite } from './stores.ts'

const CONCURRENCY = 16
/** More than any machine we know starts from two processes. */
const RUNS_PER_SECOND = 4_000
const HELD_MB = 1_024

const LIMITS = { memoryBytes: 256 * 2 ** 20, pids: 64, cpu: 1 }

const ROOT = fileURLToPath(new URL('../../', import.meta.url))

const stretch = ({ seconds, quick }: BenchOptions) => ({ seconds, warmUpSeconds: quick ? 1 : 3 })

function punctual(name: string, launchers: number, heldMb = 0): Variant {
  return {
    name,
    script: 'shell.ts',
    arrange: async (bench, options) => {
      const { seconds, warmUpSeconds } = stretch(options)
      return {
        ...{ store: await freshSqlite(bench), slots: CONCURRENCY, launchers, heldMb },
        ...{ seconds, warmUpSeconds, runs: RUNS_PER_SECOND * (seconds + warmUpSeconds) },
      }
    },
  }
}

function bare(name: string, processes: number, { heldMb = 0, isListening = true } = {}): Variant {
  return {
    name,
    script: 'bare-spawn.ts',
    arrange: async (_bench, options) => ({
      ...{ processes, concurrency: CONCURRENCY, heldMb, isListening },
      ...stretch(options),
    }),
  }
}

/** A launcher by itself, without the rest of a worker and without a server. */
function launcher(
  name: string,
  settings: Pick<LauncherLoopSettings, 'kind' | 'containment' | 'limits'>,
  heldMb = 0,
): Variant {
  return {
    name,
    script: 'launcher-loop.ts',
    arrange: async (_bench, options) => ({
      ...{ ...settings, concurrency: CONCURRENCY, heldMb },
      ...stretch(options),
    }),
  }
}

const forkExec: Variant = {
  name: 'launcher alone: none, but fork and exec in C',
  script: 'fork-exec.ts',
  arrange: async (_bench, options) => ({ concurrency: CONCURRENCY, ...stretch(options) }),
}

const NATIVE = 'launcher alone: native'
const NODE = 'launcher alone: Node'

function figure(label: string, variant: string, ...targets: Target[]): Figure {
  return { label, variant, measurement: 'runsPerSecond', unit: 'runs/s', targets }
}

export const shell: Scenario = {
  name: 'shell',
  about:
    '`true` as a run: started by a worker process, its end stored by a server process on SQLite. Beside it, ' +
    'Node starting `true` and storing nothing, at the same concurrency.',
  needsPostgres: false,
  needsPeers: false,
  async prepare() {
    await npm(ROOT, ['run', '--silent', 'build'])
    return []
  },
  variants: [
    punctual('1 launcher', 1),
    bare('spawn from 1', 1),
    punctual('2 launchers', 2),
    bare('spawn from 2', 2),
    punctual('1 launcher, 1 GB held', 1, HELD_MB),
    bare('spawn from 1, 1 GB held', 1, { heldMb: HELD_MB }),
    bare('spawn from 1, no output', 1, { isListening: false }),
    launcher(NATIVE, { kind: 'native', containment: 'auto' }),
    launcher(NODE, { kind: 'node', containment: 'auto' }),
    forkExec,
    launcher(`${NATIVE}, 1 GB held`, { kind: 'native', containment: 'auto' }, HELD_MB),
    launcher(`${NATIVE}, pidns`, { kind: 'native', containment: 'pidns' }),
    launcher(`${NATIVE}, cgroup`, { kind: 'native', containment: 'cgroup' }),
    launcher(`${NATIVE}, group`, { kind: 'native', containment: 'group' }),
    launcher(`${NATIVE}, limits`, { kind: 'native', containment: 'auto', limits: LIMITS }),
  ],
  figures: [
    figure('Punctual, 1 launcher', '1 launcher', { rivals: ['spawn from 1'], atLeast: 0.8 }),
    figure('Punctual, 2 launchers', '2 launchers', { rivals: ['spawn from 2'], atLeast: 0.8 }),
    figure('Punctual, 1 launcher, the worker holds 1 GB', '1 launcher, 1 GB held', {
      ...{ rivals: ['1 launcher'], atLeast: 0.9 },
    }),
    figure('ceiling: `spawn` from 1 process', 'spawn from 1'),
    figure('ceiling: `spawn` from 2 processes', 'spawn from 2'),
    figure('`spawn` from 1 process that holds 1 GB', 'spawn from 1, 1 GB held'),
    figure('`spawn` from 1 process that discards output', 'spawn from 1, no output'),
    figure(
      'launcher alone: native',
      NATIVE,
      { rivals: [NODE], atLeast: 2 },
      {
        ...{ rivals: [forkExec.name], atLeast: 0.5 },
      },
    ),
    figure('launcher alone: Node', NODE),
    figure('ceiling: fork and exec in C', forkExec.name),
    figure('launcher alone: native, the worker holds 1 GB', `${NATIVE}, 1 GB held`, {
      ...{ rivals: [NATIVE], atLeast: 0.9 },
    }),
    ...['pidns', 'cgroup', 'group'].map((level) =>
      figure(`launcher alone: native, at level ${level}`, `${NATIVE}, ${level}`, {
        rivals: [`${NATIVE}, group`],
      }),
    ),
    figure(
      'launcher alone: native, with limits of memory, processes and cores',
      `${NATIVE}, limits`,
      {
        rivals: [NATIVE],
      },
    ),
  ],
  details: [
    { label: 'launchers and `true` µs/run', measurement: 'startingUs' },
    { label: 'worker µs/run', measurement: 'workerUs' },
    { label: 'server µs/run', measurement: 'serverUs' },
  ],
  notes: [
    `Punctual: \`punctual worker --slots ${CONCURRENCY}\` over loopback HTTP, with more runs waiting than it can do. Ends are counted by asking the database from outside, at both ends of the stretch.`,
    `\`spawn\`: fresh Node processes, ${CONCURRENCY} at once in all, each waited for until it has exited and its two output pipes were read to the end.`,
    'Launcher alone: one launcher process and a worker that does nothing but order `/bin/true` from it, without a server. The native one contains every process as surely as it can here; the lines by level say what that costs.',
    '`fork` and `exec` in C: a loop that waits for one and starts the next, with two pipes each that nobody reads.',
    'A process of Punctual also gets a session of its own, some twelve variables, and a guardian.',
  ],
}
