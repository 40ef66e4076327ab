import { type BenchChild, startChild } from './child.ts'

/** One of the systems being compared: all run at the same time and are measured in alternation. */
export interface Side {
  readonly name: string
  readonly child: BenchChild
}

export async function startSides(
  script: string,
  settings: Readonly<Record<string, object>>,
): Promise<Side[]> {
  const sides = Object.entries(settings).map(([name, own]) => {
    return { name, child: startChild(script, own) }
  })
  for (const { child } of sides) await child.nextMessage('ready')
  return sides
}

/** Yields every side `count` times, reversing the order each turn so that no side always goes first. */
export function* alternate<T>(
  sides: readonly T[],
  count: number,
): Generator<{ side: T; turn: number }> {
  for (let turn = 0; turn < count; turn += 1) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) yield { side, turn }
  }
}
