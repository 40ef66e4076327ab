/**
 * Calls `ask` with all members of a set and empties the set; if that fails, they are members again.
 */
export async function drainInto<T, Answer>(
  set: Set<T>,
  ask: (all: readonly T[]) => Promise<Answer>,
): Promise<Answer> {
  const all = drainSet(set)
  try {
    return await ask(all)
  } catch (error) {
    for (const one of all) set.add(one)
    throw error
  }
}

export function drainSet<T>(set: Set<T>): T[] {
  const all = [...set]
  set.clear()
  return all
}
