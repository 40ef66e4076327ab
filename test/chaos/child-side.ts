/** Tells the parent that everything is up. */
export function announce(): void {
  console.log(JSON.stringify({ ready: true }))
}

/** The parent holds the other end of our standard input: when it goes, however it goes, so do we. */
export function endWithParent(): void {
  process.stdin.on('end', () => process.exit(1)).resume()
}
