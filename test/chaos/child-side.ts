/** Reports to the parent process that everything is up. */
export function announce(): void {
  console.log(JSON.stringify({ ready: true }))
}

/** The parent holds the other end of standard input: when the parent ends in any way, this process exits. */
export function endWithParent(): void {
  process.stdin.on('end', () => process.exit(1)).resume()
}
