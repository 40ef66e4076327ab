import { type Child, startChild } from './child.ts'

/** One of several that are compared: all are up at a time and have their turns. */
export interface Side {
  readonly name: string
  readonly child: Child
}

export async function startSides(
  script: string,
  settings: Readonly<Record<string, object>>,
): Promise<Side[]> {
  const sides = Object.entries(settings).map(([name, own]) => {
    return { name, child: startChild(script, own) }
  })
  for (const { child } of sides) await child.next('ready')
  return sides
}

/** Whose turn it is, `count` times each, and each as often before the others as after them. */
export function* turnsOf<T>(
  sides: readonly T[],
  count: number,
): Generator<{ side: T; turn: number }> {
  for (let turn = 0; turn < count; turn += 1) {
    for (const side of turn % 2 === 0 ? sides : sides.toReversed()) yield { side, turn }
  }
}
