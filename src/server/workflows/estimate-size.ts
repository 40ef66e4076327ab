import type { Json } from '../../core/expression/expression.ts'

/** So many characters take about as much room as one value. */
const CHARACTERS = 64

const known = new WeakMap<object, number>()

/** About how many values there are in it: what is on the shelf is counted, not measured. */
export function weigh(value: Json): number {
  if (typeof value !== 'object' || value === null) return weightOfOne(value)
  const before = known.get(value)
  if (before !== undefined) return before
  let weight = 0
  const left: Json[] = [value]
  for (let one = left.pop(); one !== undefined; one = left.pop()) {
    weight += weightOfOne(one)
    if (typeof one !== 'object' || one === null) continue
    for (const inner of Object.values(one)) left.push(inner)
  }
  known.set(value, weight)
  return weight
}

function weightOfOne(value: Json): number {
  return typeof value === 'string' ? 1 + value.length / CHARACTERS : 1
}
