const blockBytes = 65_536;

/**
 * SHA-256 over lines that may be gigabytes, with a digest function that takes only whole inputs: each line and one LF
 * are cut into blocks of 65,536 bytes (the last one shorter, and left out where empty), and each block is digested
 * behind the digest of the blocks before it, which at the start is 32 zero bytes.
 */
export class ChainedDigest {
  private digest: Uint8Array = new Uint8Array(32);
  private readonly block = new Uint8Array(blockBytes);
  private length = 0;
  private readonly encoder = new TextEncoder();

  async addLine(text: string): Promise<void> {
    const bytes = this.encoder.encode(`${text}\n`);
    for (let offset = 0; offset < bytes.length; ) {
      const part = bytes.subarray(offset, offset + blockBytes - this.length);
      this.block.set(part, this.length);
      this.length += part.length;
      offset += part.length;
      if (this.length === blockBytes) await this.close();
    }
  }

  /** In hexadecimal digits. Nothing can be added afterwards. */
  async end(): Promise<string> {
    if (this.length > 0) await this.close();
    return Array.from(this.digest, (byte) => byte.toString(16).padStart(2, "0")).join("");
  }

  private async close(): Promise<void> {
    const input = new Uint8Array(32 + this.length);
    input.set(this.digest);
    input.set(this.block.subarray(0, this.length), 32);
    this.digest = new Uint8Array(await crypto.subtle.digest("SHA-256", input));
    this.length = 0;
  }
}
