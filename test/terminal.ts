/**
 * The command that runs another one, as a shell would read it, in a pseudo-terminal: what a person would see is the
 * output. It takes the shell's place, since a shell that waits dies of the Ctrl-C that its command answers: then its exit
 * code would be seen, where `sh` is dash and not where it is bash.
 */
export function terminalOf(command: string, columns = 60): string[] {
  return ["script", "-qec", `stty cols ${columns} rows 40 && exec ${command}`, "/dev/null"];
}
