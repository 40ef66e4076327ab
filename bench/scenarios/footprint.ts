import type { BenchScenario } from '../harness/scenario.ts'

const WATCH_SECONDS = 20
const QUICK_SECONDS = 3

export const footprintScenario: BenchScenario = {
  name: 'footprint',
  about: `An idle \`npm start\`, observed for ${WATCH_SECONDS} s after start-up.`,
  needsPostgres: false,
  needsPeers: false,
  variants: [
    {
      name: 'idle',
      script: 'footprint.ts',
      arrange: async (bench, { quick }) => ({
        directory: await bench.directory(),
        seconds: quick ? QUICK_SECONDS : WATCH_SECONDS,
      }),
    },
  ],
  figures: [
    {
      label: 'idle memory (RSS)',
      variant: 'idle',
      measurement: 'rssMb',
      unit: 'MB',
      targets: [{ atMost: 110 }],
    },
    {
      label: 'idle processor, of one core',
      variant: 'idle',
      measurement: 'cpuPercent',
      unit: '%',
      targets: [{ atMost: 1 }],
    },
    { label: 'start to ready', variant: 'idle', measurement: 'startMs', unit: 'ms' },
    { label: 'installed size', variant: 'idle', measurement: 'installMb', unit: 'MB' },
  ],
  notes: [
    'SQLite store in an empty data directory. Memory is the largest of one sample a second, from /proc.',
    'Installed size: production dependencies of the lockfile present on this platform, and the package.',
  ],
}
