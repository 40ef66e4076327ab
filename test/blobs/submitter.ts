import { createHash } from 'node:crypto'
import { openScheduler } from '../../src/main/scheduler.ts'

/**
 * A process that submits runs with large inputs to the data directory given as its argument and prints the
 * acknowledged ones, until it is killed. Started by crash.test.ts.
 */
const [dataDir = '', count = '1'] = process.argv.slice(2)
const scheduler = await openScheduler({
  store: `sqlite:${dataDir}/punctual.db`,
  blobs: { place: 'fs', dataDir },
})
const client = scheduler.clientFor('default')
for (let number = 0; number < Number(count); number += 1) {
  const input = `${number} `.repeat(50_000)
  const [answer] = await client.submit([{ job: 'large', input }])
  const digest = createHash('sha256').update(input).digest('hex')
  process.stdout.write(`${answer?.id} ${digest}\n`)
}
process.kill(process.pid, 'SIGKILL')
