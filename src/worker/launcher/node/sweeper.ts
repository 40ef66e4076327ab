import { killTrees, type Tree } from '../process-tree.ts'

/**
 * Ends what a process has left behind. To find it means to look at every process of the machine, so
 * whatever ended within one turn is looked for together: the more there is to do, the less each costs.
 */
export function createSweeper(): (tree: Tree, done: () => void) => void {
  let waiting: { tree: Tree; done: () => void }[] = []

  const sweep = () => {
    const batch = waiting
    waiting = []
    killTrees(batch.map(({ tree }) => tree))
    for (const { done } of batch) done()
  }
  return (tree, done) => {
    if (waiting.length === 0) setImmediate(sweep)
    waiting.push({ tree, done })
  }
}
