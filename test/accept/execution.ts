import { join } from 'node:path'
import type { Check } from './check.ts'
import { measure, passTests, requireAll, withoutViolations } from './measuring.ts'

const ROOT = join(import.meta.dirname, '../..')
/** The last commit before execution was built. */
const DOORS = 'b67b260'

/** Acceptance checks of execution: containment, output, secrets, placement, limits, webhooks. */
export const checks: Check[] = [
  {
    id: 'E1',
    title: 'at every level of containment, killed and frozen workers leave no process',
    async run(report) {
      const parts = [
        'test/chaos/worker-deaths',
        'src/worker/launcher',
        'src/worker/executors/process',
      ]
      requireAll(await passTests(ROOT, parts, report), /needs the native launcher/)
      await withoutViolations(ROOT, ['worker-kills', 'worker-freezes'], report)
    },
  },
  {
    id: 'E2',
    title: 'output floods, fork bombs and busy loops harm no other run, and are recorded',
    async run(report) {
      const parts = ['test/chaos/flood', 'limits-worker', 'temporary-directory']
      requireAll(await passTests(ROOT, parts, report), /no limit of/)
      await withoutViolations(ROOT, ['flood'], report)
    },
  },
  {
    id: 'E3',
    title: 'a line of a gigabyte, a hit, and 500 who watch, soon',
    run: (report) => measure(ROOT, ['logs'], report),
  },
  {
    id: 'E4',
    title: 'containers on a real engine; requests to hostile addresses never leave',
    async run(report) {
      const parts = ['src/outbound/', 'src/worker/executors/', 'test/cli/executors']
      requireAll(await passTests(ROOT, parts, report), /podman/)
    },
  },
  {
    id: 'E5',
    title: 'no secret is to be found anywhere, and no server starts without its key',
    async run(report) {
      const parts = [
        'test/secrets/',
        'masking/',
        'secrets.test',
        'server/secrets/',
        'refused-start',
      ]
      await passTests(ROOT, parts, report)
    },
  },
  {
    id: 'E6',
    title: 'queues in order, limits that do not leak, fair shares, and why a run waits',
    async run(report) {
      const parts = ['test/integration/', 'src/server/dispatch/', 'test/sim/', 'gates']
      requireAll(await passTests(ROOT, parts, report), /flock/)
      await withoutViolations(ROOT, ['gates', 'fair-share'], report)
    },
  },
  {
    id: 'E7',
    title: 'processes faster than before, placement and limits cheap, the rest as fast as it was',
    run: (report) =>
      measure(ROOT, ['shell', 'placement', 'limits', ['against', '--commit', DOORS]], report),
  },
  {
    id: 'E8',
    title: 'webhooks get one message for each end, repeated until acknowledged',
    run: async (report) => void (await passTests(ROOT, ['test/webhooks/'], report)),
  },
]
