// npm run oracle: compares the fires of random rules with those of an independent walk over the system's zones.
import { readOptions } from '../support/read-options.ts'
import { compareCases, rowOf, type Tally } from './compare.ts'
import { describeZones, readSystemZones } from './zone-files.ts'

const USAGE = 'usage: npm run oracle -- [--cases N] [--seed N] [--case N]'
const BATCH = 5_000

const { values } = readOptions(USAGE, {
  cases: { type: 'string', default: '10000' },
  seed: { type: 'string' },
  case: { type: 'string' },
})
const seed = Number(values.seed ?? Date.now() % 1_000_000)
const zones = readSystemZones()
console.log(describeZones(zones))

const first = Number(values.case ?? 0)
const count = values.case === undefined ? Number(values.cases) : 1
const total = { fires: 0, refused: 0, mismatches: 0 }
for (let done = 0; done < count; done += BATCH) {
  const batch = { seed, first: first + done, count: Math.min(BATCH, count - done) }
  add(compareCases(zones, batch))
  console.log(`${done + batch.count} cases, ${total.fires} fires, ${total.mismatches} mismatches`)
}
console.log(
  `${count} cases of seed ${seed}: ${total.fires} fires, ${total.refused} rules that never fire, ` +
    `${total.mismatches} mismatches`,
)
process.exitCode = total.mismatches > 0 ? 1 : 0

function add({ fires, refused, mismatches }: Tally): void {
  total.fires += fires
  total.refused += refused
  total.mismatches += mismatches.length
  for (const mismatch of mismatches) {
    console.log(`npm run oracle -- --seed ${seed} --case ${mismatch.number}\n  ${rowOf(mismatch)}`)
  }
}
