/** Whether a path is this directory or lies in it. */
export function isBelow(path: string, root: string | undefined): boolean {
  if (root === undefined) return false
  return path === root || path.startsWith(root.endsWith('/') ? root : `${root}/`)
}
