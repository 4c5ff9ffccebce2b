//! When bytes arrived at a socket, by the kernel: a thread that reads them may run much later.

use std::io;
use std::mem::{size_of, zeroed};
use std::net::TcpStream;
use std::os::fd::AsRawFd as _;

use libc::{c_int, c_void};

/// Lets the kernel note when bytes arrive.
pub fn note_arrivals(stream: &TcpStream) -> io::Result<()> {
    let on: c_int = 1;
    // SAFETY: the option is an int, and its size is given.
    let set = unsafe {
        let (option, length) = ((&raw const on).cast::<c_void>(), size_of::<c_int>() as u32);
        libc::setsockopt(stream.as_raw_fd(), libc::SOL_SOCKET, libc::SO_TIMESTAMPNS, option, length)
    };
    if set == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// Waits for bytes, and returns how many were read and when the last of them had arrived: nanoseconds since 1970, none where the
/// kernel does not say.
pub fn receive(stream: &TcpStream, buffer: &mut [u8]) -> io::Result<(usize, Option<i64>)> {
    let mut room = [0_u64; 16];
    let mut part = libc::iovec { iov_base: buffer.as_mut_ptr().cast(), iov_len: buffer.len() };
    // SAFETY: all zeros is a message without parts; then both buffers are given with their sizes, and outlive the call. The
    // kernel wrote what the macros for control messages visit, and a time is read as unaligned bytes of its size.
    unsafe {
        let mut message: libc::msghdr = zeroed();
        (message.msg_iov, message.msg_iovlen) = (&raw mut part, 1);
        (message.msg_control, message.msg_controllen) = (room.as_mut_ptr().cast(), size_of_val(&room) as _);
        let read = libc::recvmsg(stream.as_raw_fd(), &raw mut message, 0);
        if read < 0 {
            return Err(io::Error::last_os_error());
        }
        let mut arrived = None;
        let mut control = libc::CMSG_FIRSTHDR(&raw const message);
        while let Some(header) = control.as_ref() {
            if (header.cmsg_level, header.cmsg_type) == (libc::SOL_SOCKET, libc::SCM_TIMESTAMPNS) {
                let time = libc::CMSG_DATA(control).cast::<libc::timespec>().read_unaligned();
                arrived = Some(time.tv_sec * 1_000_000_000 + time.tv_nsec);
            }
            control = libc::CMSG_NXTHDR(&raw const message, control);
        }
        Ok((read as usize, arrived))
    }
}

#[cfg(test)]
mod tests {
    use std::io::Write as _;
    use std::net::TcpListener;
    use std::time::{Duration, SystemTime, UNIX_EPOCH};

    use super::*;

    #[test]
    fn bytes_arrive_when_they_are_sent_however_late_they_are_read() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let reader = TcpStream::connect(listener.local_addr().unwrap()).unwrap();
        note_arrivals(&reader).unwrap();
        let mut writer = listener.accept().unwrap().0;
        let now = || SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_nanos() as i64;
        // The kernel begins to note times a little after it is asked to, unless somebody else has asked before.
        for attempt in 0.. {
            let before = now();
            writer.write_all(b"late").unwrap();
            let after = now();
            std::thread::sleep(Duration::from_millis(50));
            let (count, arrived) = receive(&reader, &mut [0; 16]).unwrap();
            assert_eq!(count, 4);
            if let Some(arrived) = arrived {
                assert!((before..=after).contains(&arrived), "{before} {arrived} {after}");
                return;
            }
            assert!(attempt < 20, "the kernel never says when bytes arrived");
        }
    }
}
