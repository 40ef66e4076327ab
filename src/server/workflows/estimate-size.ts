import type { Json } from '../../core/expression/expression.ts'

/** This many characters take about as much memory as one value. */
const CHARACTERS = 64

const known = new WeakMap<object, number>()

/** Approximate number of values: the cache counts its content instead of measuring it. */
export function estimateSize(value: Json): number {
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
