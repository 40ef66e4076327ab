import { classOf } from './vector-classes.ts'
import { agrees, answerTo, describeAnswer, type PlacedVector } from './vectors.ts'

export interface VectorReplay {
  readonly agreed: number
  /** Number of disagreements that each class explains. */
  readonly classes: ReadonlyMap<string, number>
  /** Disagreements that no class explains, one line each. */
  readonly unclassified: readonly string[]
}

/** Compares Punctual with the test cases of other projects and classifies the disagreements. */
export function replayVectors(vectors: readonly PlacedVector[]): VectorReplay {
  const classes = new Map<string, number>()
  const unclassified: string[] = []
  let agreed = 0
  for (const vector of vectors) {
    const { expr, zone, after, expect, file, line } = vector
    const answer = answerTo({ cron: expr, zone }, after)
    if (agrees(expect, answer)) {
      agreed++
      continue
    }
    const name = classOf(vector, answer)
    if (name !== undefined) classes.set(name, (classes.get(name) ?? 0) + 1)
    else {
      const asked = `${JSON.stringify(expr)} in ${zone}${after === null ? '' : ` after ${after}`}`
      const answered = `expected ${expect ?? 'never'}, got ${describeAnswer(answer)}`
      unclassified.push(`${file}:${line}: ${asked}: ${answered}`)
    }
  }
  return { agreed, classes, unclassified }
}
