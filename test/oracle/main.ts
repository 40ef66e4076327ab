// npm run oracle: with --vectors DIR, replays cases of other projects' tests; otherwise compares the fires of random rules with those of an independent walk over the system's zones.
import { readOptions } from '../support/read-options.ts'
import { compareCases, rowOf } from './compare.ts'
import { replayVectors } from './replay-vectors.ts'
import { type PlacedVector, readVectors } from './vectors.ts'
import { describeZones, readSystemZones } from './zone-files.ts'

const USAGE = 'usage: npm run oracle -- [--cases N] [--seed N] [--case N] | --vectors DIR'
const BATCH = 5_000

const { values } = readOptions(USAGE, {
  cases: { type: 'string', default: '10000' },
  seed: { type: 'string' },
  case: { type: 'string' },
  vectors: { type: 'string' },
})
if (values.vectors === undefined) compareRandomRules()
else replay(values.vectors)

function replay(directory: string): void {
  const vectors = tryRead(directory)
  if (vectors === undefined) return
  const { agreed, classes, unclassified } = replayVectors(vectors)
  for (const [name, count] of [...classes].toSorted(([, a], [, b]) => b - a)) {
    console.log(`${String(count).padStart(6)}  ${name}`)
  }
  for (const line of unclassified) console.log(line)
  const differ = vectors.length - agreed - unclassified.length
  console.log(
    `${vectors.length} vectors: ${agreed} agree, ${differ} differ as docs/explanation/cron-libraries.md says, ` +
      `${unclassified.length} are not classified`,
  )
  // A directory without vectors shows nothing.
  process.exitCode = unclassified.length > 0 || vectors.length === 0 ? 1 : 0
}

function tryRead(directory: string): PlacedVector[] | undefined {
  try {
    return readVectors(directory)
  } catch (error) {
    console.error((error as Error).message)
    process.exitCode = 2
    return undefined
  }
}

function compareRandomRules(): void {
  const seed = Number(values.seed ?? Date.now() % 1_000_000)
  const zones = readSystemZones()
  console.log(describeZones(zones))

  const first = Number(values.case ?? 0)
  const count = values.case === undefined ? Number(values.cases) : 1
  const total = { fires: 0, refused: 0, mismatches: 0 }
  for (let done = 0; done < count; done += BATCH) {
    const batch = { seed, first: first + done, count: Math.min(BATCH, count - done) }
    const { fires, refused, mismatches } = compareCases(zones, batch)
    total.fires += fires
    total.refused += refused
    total.mismatches += mismatches.length
    for (const mismatch of mismatches) {
      console.log(
        `npm run oracle -- --seed ${seed} --case ${mismatch.number}\n  ${rowOf(mismatch)}`,
      )
    }
    console.log(`${done + batch.count} cases, ${total.fires} fires, ${total.mismatches} mismatches`)
  }
  console.log(
    `${count} cases of seed ${seed}: ${total.fires} fires, ${total.refused} rules that never fire, ` +
      `${total.mismatches} mismatches`,
  )
  process.exitCode = total.mismatches > 0 ? 1 : 0
}
