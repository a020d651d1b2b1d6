def main():
    it = None
    # What was started goes, too.
    signal.signal(signal.SIGTERM, lambda *_: sys.exit(2))
    try:
        it = It()
        run(it)
        raise NotTried("the script has no failure")
    except Seen as seen:
        print("FAILED: %s" % seen)
        return 1
    except NotSeen as other:
        print("not seen: %s" % other)
        return 0
    except NotTried as why:
        print("could not be tried: %s" % why)
        return 2
    except Exception as error:
        print("could not be tried: %s: %s" % (type(error).__name__, error))
        return 2
    finally:
        if it is not None:
            it.leave()


sys.exit(main())
