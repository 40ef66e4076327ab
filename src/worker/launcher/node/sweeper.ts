import { killTrees, type Tree } from '../process-tree.ts'

/**
 * Kills what a process has left behind. Finding it means reading every process of the machine, so
 * all processes that ended within one turn share one pass.
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
